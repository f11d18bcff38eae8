// GEMM by cpu/gemm.h; the gradient of the weight by cpu/weight_gradient.h.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/cpu/row_sums.h"
#include "modewise/ops/cpu/weight_gradient.h"
#include "modewise/ops/dense/linear_checks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

at::Tensor linear_tiles(const at::Tensor& x, const at::Tensor& weight,
                        const std::optional<at::Tensor>& bias) {
  auto sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  const auto out = at::empty(sizes, x.options());
  if (out.numel() == 0) return out;
  const auto rows = as_rows(x), factor = weight.to(x.scalar_type()).t();
  const auto added = bias ? bias->to(x.scalar_type()).contiguous() : at::Tensor();
  gemm(x.scalar_type(), {gemm_plan(rows, factor, added, out.view({-1, weight.size(0)}))});
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&)>
    linear_kernels("linear", {{"tiles", decltype(linear_kernels)::takes_all, linear_tiles},
                              {"reference", decltype(linear_kernels)::takes_all, reference::linear}});

at::Tensor linear_checked(const at::Tensor& x, const at::Tensor& weight,
                          const std::optional<at::Tensor>& bias) {
  check_linear_args(x, weight, bias);
  return linear_kernels.run(x.device(), x, weight, bias && bias->defined() ? bias : std::nullopt);
}

at::Tensor input_gradient(const at::Tensor& grad, const at::Tensor& weight, at::IntArrayRef sizes) {
  const auto out = at::empty(sizes, grad.options());
  if (out.numel() == 0) return out;
  const auto factor = weight.to(grad.scalar_type());
  gemm(grad.scalar_type(), {gemm_plan(grad, factor, {}, out.view({-1, weight.size(1)}))});
  return out;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> linear_backward_tiles(const at::Tensor& grad,
                                                                     const at::Tensor& x,
                                                                     const at::Tensor& weight, bool x_wanted,
                                                                     bool weight_wanted, bool bias_wanted) {
  const auto rows = as_rows(x), upstream = as_rows(grad).contiguous();
  const auto none = [](const at::Tensor& like) { return at::empty({0}, like.options()); };
  return {x_wanted ? input_gradient(upstream, weight, x.sizes()) : none(x),
          weight_wanted ? product_over_rows(upstream, rows, weight.scalar_type()) : none(weight),
          bias_wanted ? sum_over_rows(upstream, weight.scalar_type()) : none(weight)};
}

const KernelList<std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&,
                                                                const at::Tensor&, bool, bool, bool)>
    linear_backward_kernels("linear_backward",
                            {{"tiles", decltype(linear_backward_kernels)::takes_all, linear_backward_tiles},
                             {"reference", decltype(linear_backward_kernels)::takes_all,
                              reference::linear_backward}});

std::tuple<at::Tensor, at::Tensor, at::Tensor> linear_backward_checked(const at::Tensor& grad,
                                                                       const at::Tensor& x,
                                                                       const at::Tensor& weight,
                                                                       bool x_wanted, bool weight_wanted,
                                                                       bool bias_wanted) {
  check_linear_backward_args(grad, x, weight);
  return linear_backward_kernels.run(x.device(), grad, x, weight, x_wanted, weight_wanted, bias_wanted);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("linear", linear_checked);
  m.impl("linear_backward", linear_backward_checked);
}

}  // namespace modewise::ops
