#include "modewise/train/loop/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "modewise/core/error.h"
#include "modewise/ops/training/adam_step.h"

namespace modewise::train {

Optimizer::Optimizer(std::vector<NamedTensor> parameters, const OptimizerConfig& config,
                     std::vector<double> rate_factors)
    : config_(config), parameters_(std::move(parameters)), rate_factors_(std::move(rate_factors)) {
  if (rate_factors_.empty()) rate_factors_.assign(parameters_.size(), 1.0);
  for (const auto& [name, tensor] : parameters_) {
    require(
        tensor.is_contiguous() && (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble),
        ErrorKind::internal, "parameter '{}' must be a contiguous tensor of float32 master weights, got {}",
        name, tensor.toString());
    first_moments_.push_back(at::zeros_like(tensor));
    second_moments_.push_back(at::zeros_like(tensor));
  }
}

void Optimizer::step(const StepRate& rate, double gradient_scale) {
  const at::NoGradGuard no_grad;
  ++steps_made_;
  const double beta2 = config_.betas[1], t = static_cast<double>(steps_made_);
  const double correction1 = 1 - std::pow(rate.beta1, t), correction2 = 1 - std::pow(beta2, t);
  const bool decoupled = config_.name == "adamw";
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const at::Tensor& tensor = parameters_[p].tensor;
    if (!tensor.grad().defined()) continue;
    const double learning_rate = rate.learning_rate * rate_factors_[p];
    const double decay = tensor.dim() >= 2 || config_.decay_norms ? config_.weight_decay : 0.0;
    ops::adam_step(tensor, tensor.grad(), first_moments_[p], second_moments_[p],
                   {.beta1 = rate.beta1,
                    .beta2 = beta2,
                    .epsilon = config_.epsilon,
                    .step_size = learning_rate / correction1,
                    .root_scale = std::sqrt(correction2),
                    .gradient_scale = gradient_scale,
                    .keep = decoupled ? 1 - learning_rate * decay : 1.0,
                    .added_decay = decoupled ? 0.0 : decay});
  }
}

void Optimizer::clear_gradients() {
  for (const NamedTensor& parameter : parameters_) parameter.tensor.mutable_grad().reset();
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> tensors;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    tensors.push_back({"first_moment." + parameters_[p].name, first_moments_[p]});
    tensors.push_back({"second_moment." + parameters_[p].name, second_moments_[p]});
  }
  return tensors;
}

}  // namespace modewise::train
