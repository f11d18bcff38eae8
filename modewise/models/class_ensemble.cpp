#include "modewise/models/class_ensemble.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>

#include "modewise/ops/dense/elementary.h"

namespace modewise::models {

std::vector<double> ClassMembers::weights() const {
  const at::Tensor weights = weights_.to(at::kCPU).contiguous();
  const double* first = weights.const_data_ptr<double>();
  return {first, first + weights.numel()};
}

void ClassMembers::set_weights(const std::vector<double>& weights) {
  require(std::ssize(weights) == members(), ErrorKind::internal, "{} weights for {} members", weights.size(),
          members());
  const at::NoGradGuard no_grad;
  weights_.copy_(at::tensor(at::ArrayRef<double>(weights)));
}

void ClassMembers::keep(torch::nn::Module& ensemble, std::vector<std::shared_ptr<Classifier>> members) {
  members_ = std::move(members);
  for (size_t i = 0; i < members_.size(); ++i)
    ensemble.register_module(fmt::format("member{}", i), members_[i]);
  for (at::Tensor& parameter : ensemble.parameters()) parameter.set_requires_grad(false);
  const auto count = static_cast<double>(members_.size());
  weights_ = ensemble.register_buffer("weights", at::full({std::ssize(members_)}, 1 / count, at::kDouble));
}

at::Tensor ClassMembers::mixed(const std::function<at::Tensor(int64_t member)>& logits_of) const {
  // Skip zero weights on the CPU only: reading them on a GPU would synchronize.
  const std::vector<double> known = weights_.is_cpu() ? weights() : std::vector<double>(members_.size(), 1);
  at::Tensor sum;
  for (int64_t i = 0; i < members(); ++i) {
    if (known[static_cast<size_t>(i)] == 0) continue;
    const at::Tensor part = at::softmax(logits_of(i).to(at::kDouble), -1) * weights_.select(0, i);
    sum = sum.defined() ? sum + part : part;
  }
  return ops::elementary(sum, "log");
}

}  // namespace modewise::models
