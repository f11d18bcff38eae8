#include "modewise/ops/training/adam_step.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/training/adam_step_checks.h"

namespace modewise::ops {
namespace {

constexpr auto kAdamStep = "adam_step";

void adam_step_meta(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& first_moment,
                    const at::Tensor& second_moment, double, double, double, double, double, double, double,
                    double) {
  check_adam_step_args(parameter, gradient, first_moment, second_moment);
}

}  // namespace

void check_adam_step_args(const at::Tensor& parameter, const at::Tensor& gradient,
                          const at::Tensor& first_moment, const at::Tensor& second_moment) {
  TORCH_CHECK_VALUE(parameter.scalar_type() == at::kFloat || parameter.scalar_type() == at::kDouble,
                    kAdamStep, ": parameter must be float32 or float64, got ", parameter.scalar_type());
  for (const auto& [name, tensor] :
       {std::pair("gradient", gradient), {"first_moment", first_moment}, {"second_moment", second_moment}}) {
    check_same(kAdamStep, name, tensor, "parameter", parameter);
    TORCH_CHECK_VALUE(tensor.sym_sizes() == parameter.sym_sizes(), kAdamStep, ": ", name,
                      " must have the shape of parameter ", parameter.sym_sizes(), ", got ",
                      tensor.sym_sizes());
  }
  TORCH_CHECK_VALUE(
      parameter.is_contiguous() && first_moment.is_contiguous() && second_moment.is_contiguous(), kAdamStep,
      ": parameter and moments must be contiguous, because they are updated in place");
}

void adam_step(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& first_moment,
               const at::Tensor& second_moment, const AdamStep& step) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::adam_step", "")
                             .typed<decltype(adam_step_meta)>();
  op.call(parameter, gradient, first_moment, second_moment, step.beta1, step.beta2, step.epsilon,
          step.step_size, step.root_scale, step.gradient_scale, step.keep, step.added_decay);
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "adam_step(Tensor(a!) parameter, Tensor gradient, Tensor(b!) first_moment, Tensor(c!) second_moment, "
      "float beta1, float beta2, float epsilon, float step_size, float root_scale, float gradient_scale=1., "
      "float keep=1., float added_decay=0.) -> ()");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("adam_step", adam_step_meta);
}

}  // namespace modewise::ops
