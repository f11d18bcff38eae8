// Sums of all rows, those that do not count as 0: the sizes of nothing depend on the mask.

#include <ATen/TensorOperators.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

std::tuple<at::Tensor, at::Tensor, at::Tensor> masked_moments(const at::Tensor& rows,
                                                              const at::Tensor& mask) {
  const auto wide = rows.to(accumulate_type(rows.scalar_type()));
  const auto kept = mask.logical_or(mask.any().logical_not()).unsqueeze(1);
  const auto count = kept.sum().to(at::kDouble), divisor = count.to(wide.scalar_type());
  const auto zero = at::zeros({}, wide.options());
  const auto mean = at::where(kept, wide, zero).sum(0) / divisor;
  const auto var = at::where(kept, (wide - mean).square(), zero).sum(0) / divisor;
  return {mean.to(rows.scalar_type()), var.to(rows.scalar_type()), count};
}

void update_moments(const at::Tensor& running_mean, const at::Tensor& running_var, const at::Tensor& mean,
                    const at::Tensor& var, const at::Tensor& count, double momentum) {
  running_mean.mul_(1 - momentum).add_(mean, momentum);
  const auto unbiased = (count / (count - 1).clamp_min(1)).to(var.scalar_type());
  running_var.mul_(1 - momentum).add_(var * unbiased, momentum);
}

}  // namespace modewise::ops::reference
