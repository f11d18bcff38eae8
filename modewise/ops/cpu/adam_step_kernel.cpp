// Elementwise in chunks; each chunk is updated by one thread.

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "modewise/ops/autograd/written_tensors.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/training/adam_step_checks.h"

namespace modewise::ops {

namespace {

template <class T>
void adam_update(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& first_moment,
                 const at::Tensor& second_moment, const AdamStep& step) {
  const AdamPlan<T> plan = {.gradient_scale = static_cast<T>(step.gradient_scale),
                            .keep = static_cast<T>(step.keep),
                            .added_decay = static_cast<T>(step.added_decay),
                            .beta1_rest = static_cast<T>(1 - step.beta1),
                            .beta2 = static_cast<T>(step.beta2),
                            .beta2_rest = static_cast<T>(1 - step.beta2),
                            .step_size = static_cast<T>(step.step_size),
                            .root_scale = static_cast<T>(step.root_scale),
                            .epsilon = static_cast<T>(step.epsilon)};
  T* w = parameter.mutable_data_ptr<T>();
  const T* g = gradient.const_data_ptr<T>();
  T* m = first_moment.mutable_data_ptr<T>();
  T* v = second_moment.mutable_data_ptr<T>();
  const auto update = loops().of<T>().element->adam_step;
  at::parallel_for(0, parameter.numel(), kChunkElements,
                   [&](int64_t begin, int64_t end) { update(plan, w, g, m, v, begin, end); });
}

void adam_step_fused(const at::Tensor& parameter, const at::Tensor& gradient, const at::Tensor& first_moment,
                     const at::Tensor& second_moment, const AdamStep& step) {
  const auto dense = gradient.contiguous();
  if (parameter.scalar_type() == at::kDouble)
    adam_update<double>(parameter, dense, first_moment, second_moment, step);
  else
    adam_update<float>(parameter, dense, first_moment, second_moment, step);
}

const KernelList<void(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                      const AdamStep&)>
    adam_step_kernels("adam_step",
                      {{"fused", decltype(adam_step_kernels)::takes_all, adam_step_fused},
                       {"reference", decltype(adam_step_kernels)::takes_all, reference::adam_step}});

void adam_step_checked(const at::Tensor& parameter, const at::Tensor& gradient,
                       const at::Tensor& first_moment, const at::Tensor& second_moment, double beta1,
                       double beta2, double epsilon, double step_size, double root_scale,
                       double gradient_scale, double keep, double added_decay) {
  check_adam_step_args(parameter, gradient, first_moment, second_moment);
  adam_step_kernels.run(parameter.device(), parameter, gradient, first_moment, second_moment,
                        {beta1, beta2, epsilon, step_size, root_scale, gradient_scale, keep, added_decay});
  count_writes({parameter, first_moment, second_moment});
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("adam_step", adam_step_checked);
}

}  // namespace modewise::ops
