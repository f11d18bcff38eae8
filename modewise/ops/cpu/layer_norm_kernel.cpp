// Rows of [rows, D] in chunks, one thread per chunk. The weight and bias gradients are summed piece by piece
// within chunks that depend only on the shape, then over the chunks by a reduction tree.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/dropout_plan.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/normalization/layer_norm_checks.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {

namespace {

using Triple = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using Quadruple = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

at::Tensor dense(const std::optional<at::Tensor>& tensor, at::ScalarType type) {
  return tensor ? tensor->to(type).contiguous() : at::Tensor();
}
const void* data_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}

// Plan, x and the tensors that the plan points to.
struct NormCall {
  NormCall(const at::Tensor& input, const std::optional<at::Tensor>& w, const std::optional<at::Tensor>& b,
           double eps)
      : x(input.contiguous()),
        weight(dense(w, accumulate_type(x.scalar_type()))),
        bias(dense(b, accumulate_type(x.scalar_type()))),
        out(at::empty(x.sizes(), x.options())) {
    const auto options = x.options().dtype(accumulate_type(x.scalar_type()));
    const auto rows = x.sizes().slice(0, static_cast<size_t>(x.dim()) - 1);
    mean = at::empty(rows, options);
    rstd = at::empty(rows, options);
    plan = {.x = x.const_data_ptr(),
            .residual = nullptr,
            .sum = nullptr,
            .weight = data_or_null(weight),
            .bias = data_or_null(bias),
            .out = out.mutable_data_ptr(),
            .mean = mean.mutable_data_ptr(),
            .rstd = rstd.mutable_data_ptr(),
            .channels = x.size(-1),
            .eps = eps,
            .centred = true,
            .dropout = {}};
  }
  void run() const {
    dispatch_floating(x.scalar_type(), "layer_norm", [&]<class T>() {
      for_row_chunks(mean.numel(), chunk_rows(plan.channels, 64),
                     [&](int64_t begin, int64_t end) { loops().of<T>().element->norm(plan, begin, end); });
    });
  }

  at::Tensor x, weight, bias, out, mean, rstd;
  NormPlan plan;
};

Triple norm_fused(const at::Tensor& x, const std::optional<at::Tensor>& weight,
                  const std::optional<at::Tensor>& bias, double eps) {
  const NormCall call(x, weight, bias, eps);
  call.run();
  return {call.out, call.mean, call.rstd};
}

Quadruple add_norm_fused(const at::Tensor& residual, const at::Tensor& x, double p, DropoutKey key,
                         const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias,
                         double eps) {
  NormCall call(x, weight, bias, eps);
  const auto added = residual.contiguous();
  const auto sum = at::empty(call.x.sizes(), call.x.options());
  call.plan.residual = added.const_data_ptr();
  call.plan.sum = sum.mutable_data_ptr();
  call.plan.dropout = dropout_plan(p, key);
  call.run();
  return {sum, call.out, call.mean, call.rstd};
}

Quadruple add_norm_reference(const at::Tensor& residual, const at::Tensor& x, double p, DropoutKey key,
                             const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias,
                             double eps) {
  const auto sum = reference::dropout_add(residual, x, p, key);
  auto [out, mean, rstd] = reference::layer_norm_stats(sum, weight, bias, eps);
  return {sum, out, mean, rstd};
}

const KernelList<Triple(const at::Tensor&, const std::optional<at::Tensor>&, const std::optional<at::Tensor>&,
                        double)>
    norm_kernels("layer_norm",
                 {{"fused", decltype(norm_kernels)::takes_all, norm_fused},
                  {"reference", decltype(norm_kernels)::takes_all, reference::layer_norm_stats}});
const KernelList<Quadruple(const at::Tensor&, const at::Tensor&, double, DropoutKey,
                           const std::optional<at::Tensor>&, const std::optional<at::Tensor>&, double)>
    add_norm_kernels("dropout_add_norm",
                     {{"fused", decltype(add_norm_kernels)::takes_all, add_norm_fused},
                      {"reference", decltype(add_norm_kernels)::takes_all, add_norm_reference}});

Triple layer_norm_stats_checked(const at::Tensor& x, const std::optional<at::Tensor>& weight,
                                const std::optional<at::Tensor>& bias, double eps) {
  check_layer_norm_args(x, weight, bias, eps);
  return norm_kernels.run(x.device(), x, weight, bias, eps);
}

Quadruple dropout_add_norm_stats_checked(const at::Tensor& residual, const at::Tensor& x, double p,
                                         int64_t seed, int64_t step, int64_t site,
                                         const std::optional<at::Tensor>& weight,
                                         const std::optional<at::Tensor>& bias, double eps) {
  check_dropout_add_norm_args(residual, x, p, weight, bias, eps);
  return add_norm_kernels.run(x.device(), residual, x, p, dropout_key("dropout_add_norm", seed, step, site),
                              weight, bias, eps);
}

Triple norm_backward_fused(const at::Tensor& grad_out, const at::Tensor& input, const at::Tensor& mean,
                           const at::Tensor& rstd, const std::optional<at::Tensor>& weight,
                           const std::optional<at::Tensor>& grad_sum) {
  const auto type = accumulate_type(input.scalar_type());
  const auto x = input.contiguous(), grad = grad_out.contiguous(), scale = dense(weight, type);
  const auto added = dense(grad_sum, x.scalar_type()), mean_rows = dense(mean, type),
             rstd_rows = dense(rstd, type);
  const auto grad_x = at::empty(x.sizes(), x.options());
  const int64_t channels = x.size(-1), rows = mean.numel(), chunk = chunk_rows(channels, 64);
  const int64_t parts = std::max<int64_t>((rows + chunk - 1) / chunk, 1);
  const auto sums = at::zeros({parts, 2, channels}, x.options().dtype(type));
  const NormBackwardPlan plan = {.grad = grad.const_data_ptr(),
                                 .grad_sum = data_or_null(added),
                                 .x = x.const_data_ptr(),
                                 .mean = mean_rows.const_data_ptr(),
                                 .rstd = rstd_rows.const_data_ptr(),
                                 .weight = data_or_null(scale),
                                 .grad_x = grad_x.mutable_data_ptr(),
                                 .channels = channels,
                                 .centred = true};
  dispatch_floating(x.scalar_type(), "layer_norm_backward", [&]<class T>() {
    using F = std::conditional_t<sizeof(T) == 8, double, float>;
    F* to = static_cast<F*>(sums.mutable_data_ptr());
    for_row_chunks(rows, chunk, [&](int64_t begin, int64_t end) {
      F* part = to + begin / chunk * 2 * channels;
      add_in_pieces(begin, end, 2 * channels, part, [&](int64_t first, int64_t last, F* piece) {
        loops().of<T>().element->norm_backward(plan, first, last, piece, piece + channels);
      });
    });
    sum_rows(to, parts, 2 * channels);
  });
  return {grad_x, sums.select(0, 0).select(0, 0).clone(), sums.select(0, 0).select(0, 1).clone()};
}

using NormBackwardKernels =
    KernelList<Triple(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                      const std::optional<at::Tensor>&, const std::optional<at::Tensor>&)>;
const NormBackwardKernels norm_backward_kernels(
    "layer_norm_backward", {{"fused", NormBackwardKernels::takes_all, norm_backward_fused},
                            {"reference", NormBackwardKernels::takes_all, reference::layer_norm_backward}});

Triple layer_norm_backward_checked(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean,
                                   const at::Tensor& rstd, const std::optional<at::Tensor>& weight,
                                   const std::optional<at::Tensor>& grad_sum) {
  check_layer_norm_backward_args(grad, x, mean, rstd, weight, grad_sum);
  return norm_backward_kernels.run(x.device(), grad, x, mean, rstd, weight, grad_sum);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("layer_norm_stats", layer_norm_stats_checked);
  m.impl("layer_norm_backward", layer_norm_backward_checked);
  m.impl("dropout_add_norm_stats", dropout_add_norm_stats_checked);
}

}  // namespace modewise::ops
