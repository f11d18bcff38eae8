// Valid rows are gathered, so that their sums do not depend on the positions of the others. Moments are
// computed in float64 and rounded once.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/autograd/written_tensors.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/normalization/masked_moments_checks.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

/// Valid rows and their indices; all rows and no indices if the mask keeps none.
struct CountedRows {
  at::Tensor rows, places;
};

CountedRows counted_rows(const at::Tensor& rows, const at::Tensor& mask, at::ScalarType type) {
  const auto places = at::nonzero(mask).squeeze(-1);
  if (places.numel() == 0) return {rows.to(type), {}};
  return {rows.index_select(0, places).to(type), places};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> masked_moments_gathered(const at::Tensor& rows,
                                                                       const at::Tensor& mask) {
  const auto counted = counted_rows(rows, mask, at::kDouble).rows;
  const auto mean = counted.mean(0);
  const auto var = (counted - mean).square().mean(0);
  return {mean.to(rows.scalar_type()), var.to(rows.scalar_type()),
          at::scalar_tensor(static_cast<double>(counted.size(0)), rows.options().dtype(at::kDouble))};
}

const KernelList<std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&)>
    masked_moments_kernels("masked_moments", {{"gathered", decltype(masked_moments_kernels)::takes_all,
                                               masked_moments_gathered},
                                              {"reference", decltype(masked_moments_kernels)::takes_all,
                                               reference::masked_moments}});

std::tuple<at::Tensor, at::Tensor, at::Tensor> masked_moments_checked(const at::Tensor& rows,
                                                                      const at::Tensor& mask) {
  check_masked_moments_args(rows, mask);
  return masked_moments_kernels.run(rows.device(), rows, mask);
}

at::Tensor moments_backward_gathered(const at::Tensor& grad_mean, const at::Tensor& grad_var,
                                     const at::Tensor& rows, const at::Tensor& mask, const at::Tensor& mean) {
  const CountedRows counted = counted_rows(rows, mask, accumulate_type(rows.scalar_type()));
  const auto type = counted.rows.scalar_type();
  const int64_t count = counted.rows.size(0);
  const auto each = [&](const at::Tensor& grad) { return grad.to(type).expand_as(counted.rows) / count; };
  const auto apart = each(grad_var) * ((counted.rows - mean.to(type)) * 2.0);
  const auto of_counted = apart + each(grad_mean.to(type) + apart.neg().sum(0));
  if (!counted.places.defined()) return of_counted.to(rows.scalar_type());
  return at::zeros(rows.sizes(), counted.rows.options())
      .index_add_(0, counted.places, of_counted)
      .to(rows.scalar_type());
}

at::Tensor moments_backward_reference(const at::Tensor& grad_mean, const at::Tensor& grad_var,
                                      const at::Tensor& rows, const at::Tensor& mask, const at::Tensor&) {
  return reference::masked_moments_backward(grad_mean, grad_var, rows, mask);
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                            const at::Tensor&)>
    moments_backward_kernels(
        "masked_moments_backward",
        {{"gathered", decltype(moments_backward_kernels)::takes_all, moments_backward_gathered},
         {"reference", decltype(moments_backward_kernels)::takes_all, moments_backward_reference}});

at::Tensor masked_moments_backward_checked(const at::Tensor& grad_mean, const at::Tensor& grad_var,
                                           const at::Tensor& rows, const at::Tensor& mask,
                                           const at::Tensor& mean) {
  check_masked_moments_backward_args(grad_mean, grad_var, rows, mask, mean);
  return moments_backward_kernels.run(rows.device(), grad_mean, grad_var, rows, mask, mean);
}

/// running ← (1 − μ) running + weight · value.
void move_average(const at::Tensor& running, const at::Tensor& value, double momentum, double weight) {
  running.copy_(running.to(at::kDouble).mul_(1 - momentum).add_(value.to(at::kDouble), weight));
}

void update_moments_exact(const at::Tensor& running_mean, const at::Tensor& running_var,
                          const at::Tensor& mean, const at::Tensor& var, const at::Tensor& count,
                          double momentum) {
  const double n = *count.const_data_ptr<double>();
  if (n < 2) return;
  move_average(running_mean, mean, momentum, momentum);
  move_average(running_var, var, momentum, momentum * n / (n - 1));
}

const KernelList<void(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                      const at::Tensor&, double)>
    update_moments_kernels("update_moments",
                           {{"exact", decltype(update_moments_kernels)::takes_all, update_moments_exact},
                            {"reference", decltype(update_moments_kernels)::takes_all,
                             reference::update_moments}});

void update_moments_checked(const at::Tensor& running_mean, const at::Tensor& running_var,
                            const at::Tensor& mean, const at::Tensor& var, const at::Tensor& count,
                            double momentum) {
  check_update_moments_args(running_mean, running_var, mean, var, count);
  update_moments_kernels.run(running_mean.device(), running_mean, running_var, mean, var, count, momentum);
  count_writes({running_mean, running_var});
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("masked_moments", masked_moments_checked);
  m.impl("masked_moments_backward", masked_moments_backward_checked);
  m.impl("update_moments", update_moments_checked);
}

}  // namespace modewise::ops
