// Sums over all rows, with masked rows as 0: no size depends on the mask.

#include <ATen/TensorOperators.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

std::tuple<at::Tensor, at::Tensor, at::Tensor> masked_moments(const at::Tensor& rows,
                                                              const at::Tensor& mask) {
  const auto kept = mask.logical_or(mask.any().logical_not()).unsqueeze(1);
  const auto count = kept.sum().to(at::kDouble);
  const auto zero = at::zeros({}, rows.options().dtype(at::kDouble));
  const auto wide = at::where(kept, rows.to(at::kDouble), zero);
  const auto mean = wide.sum(0) / count;
  const auto var = at::where(kept, (wide - mean).square(), zero).sum(0) / count;
  return {mean.to(rows.scalar_type()), var.to(rows.scalar_type()), count};
}

void update_moments(const at::Tensor& running_mean, const at::Tensor& running_var, const at::Tensor& mean,
                    const at::Tensor& var, const at::Tensor& count, double momentum) {
  const auto share = (count >= 2).to(at::kDouble) * momentum;
  const auto move = [&](const at::Tensor& running, const at::Tensor& value) {
    running.copy_(running.to(at::kDouble) * (1 - share) + value * share);
  };
  move(running_mean, mean.to(at::kDouble));
  move(running_var, var.to(at::kDouble) * (count / (count - 1).clamp_min(1)));
}

at::Tensor masked_moments_backward(const at::Tensor& grad_mean, const at::Tensor& grad_var,
                                   const at::Tensor& rows, const at::Tensor& mask) {
  return gradients(
      [&](const Tensors& in) -> Tensors {
        const auto [mean, var, count] = reference::masked_moments(in[0], mask);
        return {mean, var};
      },
      {rows}, {grad_mean, grad_var})[0];
}

}  // namespace modewise::ops::reference
