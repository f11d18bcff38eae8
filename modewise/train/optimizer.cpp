#include "modewise/train/optimizer.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "modewise/core/error.h"

namespace modewise::train {
namespace {

template <class T>
struct Coefficients {
  T gradient_scale, keep, added_decay, beta1_rest, beta2, beta2_rest, step_size, root_scale, epsilon;
};

/// Elements [0, n) of one parameter; each index is read and written by one thread.
template <class T>
[[gnu::always_inline]] inline void update_elements(T* __restrict w, const T* __restrict gradient,
                                                   T* __restrict first, T* __restrict second, int64_t n,
                                                   const Coefficients<T>& c) {
  for (int64_t i = 0; i < n; ++i) {
    const T kept = w[i] * c.keep;
    const T g = gradient[i] * c.gradient_scale + c.added_decay * w[i];
    const T m = first[i] + c.beta1_rest * (g - first[i]);
    const T v = c.beta2 * second[i] + c.beta2_rest * g * g;
    first[i] = m;
    second[i] = v;
    w[i] = kept - c.step_size * (m / (std::sqrt(v) / c.root_scale + c.epsilon));
  }
}

// One clone an instruction set, chosen when the library is loaded. This file is compiled without contraction
// to fused multiply-adds, and IEEE roots and quotients are exact, so that all clones, and the vector body and
// the remainder of each, give the same bits.
#if defined(__x86_64__) && !defined(__clang__)
#define MODEWISE_CLONES [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define MODEWISE_CLONES
#endif

MODEWISE_CLONES void update(float* w, const float* gradient, float* first, float* second, int64_t n,
                            const Coefficients<float>& c) {
  update_elements(w, gradient, first, second, n, c);
}

MODEWISE_CLONES void update(double* w, const double* gradient, double* first, double* second, int64_t n,
                            const Coefficients<double>& c) {
  update_elements(w, gradient, first, second, n, c);
}

}  // namespace

Optimizer::Optimizer(std::vector<NamedTensor> parameters, const OptimizerConfig& config)
    : config_(config), parameters_(std::move(parameters)) {
  for (const auto& [name, tensor] : parameters_) {
    require(tensor.device().is_cpu() && tensor.is_contiguous() &&
                (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble),
            ErrorKind::internal,
            "parameter '{}' must be a contiguous CPU tensor of float32 master weights, got {}", name,
            tensor.toString());
    first_moments_.push_back(at::zeros_like(tensor));
    second_moments_.push_back(at::zeros_like(tensor));
  }
}

void Optimizer::step(const StepRate& rate, double gradient_scale) {
  const at::NoGradGuard no_grad;
  ++steps_made_;
  const double beta2 = config_.betas[1], t = static_cast<double>(steps_made_);
  const double correction1 = 1 - std::pow(rate.beta1, t), correction2 = 1 - std::pow(beta2, t);
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const at::Tensor& tensor = parameters_[p].tensor;
    if (!tensor.grad().defined()) continue;
    const at::Tensor gradient = tensor.grad().contiguous();
    const double decay = tensor.dim() >= 2 || config_.decay_norms ? config_.weight_decay : 0.0;
    const bool decoupled = config_.name == "adamw";
    AT_DISPATCH_FLOATING_TYPES(tensor.scalar_type(), "optimizer_step", [&] {
      const Coefficients<scalar_t> c{static_cast<scalar_t>(gradient_scale),
                                     static_cast<scalar_t>(decoupled ? 1 - rate.learning_rate * decay : 1.0),
                                     static_cast<scalar_t>(decoupled ? 0.0 : decay),
                                     static_cast<scalar_t>(1 - rate.beta1),
                                     static_cast<scalar_t>(beta2),
                                     static_cast<scalar_t>(1 - beta2),
                                     static_cast<scalar_t>(rate.learning_rate / correction1),
                                     static_cast<scalar_t>(std::sqrt(correction2)),
                                     static_cast<scalar_t>(config_.epsilon)};
      scalar_t* w = tensor.mutable_data_ptr<scalar_t>();
      const scalar_t* g = gradient.const_data_ptr<scalar_t>();
      scalar_t* m = first_moments_[p].mutable_data_ptr<scalar_t>();
      scalar_t* v = second_moments_[p].mutable_data_ptr<scalar_t>();
      at::parallel_for(0, tensor.numel(), 1 << 14, [&](int64_t begin, int64_t end) {
        update(w + begin, g + begin, m + begin, v + begin, end - begin, c);
      });
    });
    tensor.unsafeGetTensorImpl()->bump_version();
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
