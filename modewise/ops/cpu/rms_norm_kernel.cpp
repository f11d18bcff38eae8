// Rows of [rows, D] in chunks, one thread per chunk; the weight gradient is summed piece by piece within
// chunks that depend only on the shape, then over the chunks by a reduction tree.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/normalization/rms_norm_checks.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

using Pair = std::tuple<at::Tensor, at::Tensor>;

at::Tensor rms_weight(const std::optional<at::Tensor>& weight, at::ScalarType type) {
  return weight ? weight->to(type).contiguous() : at::Tensor();
}
const void* rms_data(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}

Pair rms_fused(const at::Tensor& input, const std::optional<at::Tensor>& scale, double eps) {
  const auto x = input.contiguous();
  const auto type = accumulate_type(x.scalar_type());
  const auto weight = rms_weight(scale, type);
  const auto out = at::empty(x.sizes(), x.options());
  const auto rstd = at::empty(x.sizes().slice(0, static_cast<size_t>(x.dim()) - 1), x.options().dtype(type));
  const NormPlan plan = {.x = x.const_data_ptr(),
                         .residual = nullptr,
                         .sum = nullptr,
                         .weight = rms_data(weight),
                         .bias = nullptr,
                         .out = out.mutable_data_ptr(),
                         .mean = nullptr,
                         .rstd = rstd.mutable_data_ptr(),
                         .channels = x.size(-1),
                         .eps = eps,
                         .centred = false,
                         .dropout = {}};
  dispatch_floating(x.scalar_type(), "rms_norm", [&]<class T>() {
    for_row_chunks(rstd.numel(), chunk_rows(plan.channels),
                   [&](int64_t begin, int64_t end) { loops().of<T>().element->norm(plan, begin, end); });
  });
  return {out, rstd};
}

const KernelList<Pair(const at::Tensor&, const std::optional<at::Tensor>&, double)> rms_kernels(
    "rms_norm", {{"fused", decltype(rms_kernels)::takes_all, rms_fused},
                 {"reference", decltype(rms_kernels)::takes_all, reference::rms_norm_stats}});

Pair rms_norm_stats_checked(const at::Tensor& x, const std::optional<at::Tensor>& weight, double eps) {
  check_rms_norm_args(x, weight, eps);
  return rms_kernels.run(x.device(), x, weight, eps);
}

Pair rms_backward_fused(const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& rstd,
                        const std::optional<at::Tensor>& scale) {
  const auto type = accumulate_type(input.scalar_type());
  const auto x = input.contiguous(), grad = grad_out.contiguous(), weight = rms_weight(scale, type);
  const auto rstd_rows = rstd.to(type).contiguous();
  const auto grad_x = at::empty(x.sizes(), x.options());
  const int64_t channels = x.size(-1), rows = rstd.numel(), chunk = chunk_rows(channels);
  const int64_t parts = std::max<int64_t>((rows + chunk - 1) / chunk, 1);
  const auto sums = at::zeros({parts, channels}, x.options().dtype(type));
  const NormBackwardPlan plan = {.grad = grad.const_data_ptr(),
                                 .grad_sum = nullptr,
                                 .x = x.const_data_ptr(),
                                 .mean = nullptr,
                                 .rstd = rstd_rows.const_data_ptr(),
                                 .weight = rms_data(weight),
                                 .grad_x = grad_x.mutable_data_ptr(),
                                 .channels = channels,
                                 .centred = false};
  dispatch_floating(x.scalar_type(), "rms_norm_backward", [&]<class T>() {
    using F = std::conditional_t<sizeof(T) == 8, double, float>;
    F* to = static_cast<F*>(sums.mutable_data_ptr());
    for_row_chunks(rows, chunk, [&](int64_t begin, int64_t end) {
      add_in_pieces(begin, end, channels, to + begin / chunk * channels,
                    [&](int64_t first, int64_t last, F* piece) {
                      loops().of<T>().element->norm_backward(plan, first, last, piece, nullptr);
                    });
    });
    sum_rows(to, parts, channels);
  });
  return {grad_x, sums.select(0, 0).clone()};
}

const KernelList<Pair(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                      const std::optional<at::Tensor>&)>
    rms_backward_kernels("rms_norm_backward",
                         {{"fused", decltype(rms_backward_kernels)::takes_all, rms_backward_fused},
                          {"reference", decltype(rms_backward_kernels)::takes_all,
                           reference::rms_norm_backward}});

Pair rms_norm_backward_checked(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& rstd,
                               const std::optional<at::Tensor>& weight) {
  check_rms_norm_backward_args(grad, x, rstd, weight);
  return rms_backward_kernels.run(x.device(), grad, x, rstd, weight);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("rms_norm_stats", rms_norm_stats_checked);
  m.impl("rms_norm_backward", rms_norm_backward_checked);
}

}  // namespace modewise::ops
