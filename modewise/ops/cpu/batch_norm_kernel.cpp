// Rows in chunks that depend only on the sizes. The mean and the centred sum of squares of a chunk are
// computed while it is in cache, and merged with those of the other chunks in float64 (Chan, Golub and
// LeVeque 1983): one pass over memory computes the moments, another the result.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/row_sums.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/normalization/batch_norm_checks.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

using Triple = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
template <class T>
using Sum = std::conditional_t<sizeof(T) == 8, double, float>;

int64_t chunk_of(const at::Tensor& x) {
  return chunk_rows(x.size(-1), 16);
}
int64_t rows_of(const at::Tensor& x) {
  return x.numel() / std::max<int64_t>(x.size(-1), 1);
}
int64_t chunks_of(const at::Tensor& x) {
  return (rows_of(x) + chunk_of(x) - 1) / chunk_of(x);
}

/// parts [chunks, 2, C]: mean of each chunk, and its centred sum of squares.
template <class T>
void chunk_moments(const at::Tensor& x, const BatchNormPlan& plan, Sum<T>* parts) {
  const int64_t channels = plan.channels, chunk = chunk_of(x);
  const auto& loops = *ops::loops().of<T>().batch_norm;
  for_row_chunks(rows_of(x), chunk, [&](int64_t begin, int64_t end) {
    Sum<T>* mean = parts + begin / chunk * 2 * channels;
    loops.sums(plan, begin, end, mean);
    for (int64_t c = 0; c < channels; ++c) mean[c] /= static_cast<Sum<T>>(end - begin);
    loops.squares(plan, mean, begin, end, mean + channels);
  });
}

/// Merges the moments of the chunks into those of all rows.
template <class F>
void join_moments(const F* parts, int64_t rows, int64_t chunk, int64_t channels, F* mean, F* var) {
  const auto count_of = [&](int64_t first) { return static_cast<double>(std::min(chunk, rows - first)); };
  const auto all = static_cast<double>(rows);
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (int64_t first = 0; first < rows; first += chunk)
      sum += count_of(first) * static_cast<double>(parts[first / chunk * 2 * channels + c]);
    const double centre = sum / all;
    for (int64_t first = 0; first < rows; first += chunk) {
      const F* part = parts + first / chunk * 2 * channels;
      const double apart = static_cast<double>(part[c]) - centre;
      squares += static_cast<double>(part[channels + c]) + count_of(first) * apart * apart;
    }
    mean[c] = static_cast<F>(centre);
    var[c] = static_cast<F>(squares / all);
  }
}

Triple batch_norm_chunks(const at::Tensor& input, const at::Tensor& given_weight,
                         const at::Tensor& given_bias, double eps) {
  const auto x = input.contiguous();
  const auto type = accumulate_type(x.scalar_type());
  const auto weight = given_weight.to(type).contiguous(), bias = given_bias.to(type).contiguous();
  const auto out = at::empty(x.sizes(), x.options());
  const auto of_channels = [&] { return at::empty({x.size(-1)}, weight.options()); };
  const auto mean = of_channels(), var = of_channels(), factor = of_channels();
  const auto parts = at::zeros({chunks_of(x), 2, x.size(-1)}, weight.options());
  const BatchNormPlan plan = {.x = x.const_data_ptr(),
                              .grad = nullptr,
                              .mean = mean.const_data_ptr(),
                              .factor = factor.const_data_ptr(),
                              .shift = bias.const_data_ptr(),
                              .slope = nullptr,
                              .out = out.mutable_data_ptr(),
                              .channels = x.size(-1)};
  dispatch_floating(x.scalar_type(), "batch_norm", [&]<class T>() {
    using F = Sum<T>;
    chunk_moments<T>(x, plan, parts.mutable_data_ptr<F>());
    join_moments(parts.const_data_ptr<F>(), rows_of(x), chunk_of(x), plan.channels,
                 mean.mutable_data_ptr<F>(), var.mutable_data_ptr<F>());
    const F* scale = weight.const_data_ptr<F>();
    const F* variance = var.const_data_ptr<F>();
    F* to = factor.mutable_data_ptr<F>();
    for (int64_t c = 0; c < plan.channels; ++c)
      to[c] =
          static_cast<F>(static_cast<double>(scale[c]) / std::sqrt(static_cast<double>(variance[c]) + eps));
    for_row_chunks(rows_of(x), chunk_of(x), [&](int64_t begin, int64_t end) {
      ops::loops().of<T>().batch_norm->normalise(plan, begin, end);
    });
  });
  return {out, mean, var};
}

const KernelList<Triple(const at::Tensor&, const at::Tensor&, const at::Tensor&, double)> batch_norm_kernels(
    "batch_norm", {{"chunks", decltype(batch_norm_kernels)::takes_all, batch_norm_chunks},
                   {"reference", decltype(batch_norm_kernels)::takes_all, reference::batch_norm}});

Triple batch_norm_checked(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  check_batch_norm_args(x, weight, bias, eps);
  return batch_norm_kernels.run(x.device(), x, weight, bias, eps);
}

/// Per-channel inputs of `gradient` from the sums [2, C] over all rows; the second become the gradient of the
/// weight.
template <class F>
void channel_gradients(F* sums, const F* var, const F* weight, double rows, double eps, int64_t channels,
                       F* factor, F* shift, F* slope) {
  for (int64_t c = 0; c < channels; ++c) {
    const double variance = static_cast<double>(var[c]) + eps, rstd = 1 / std::sqrt(variance);
    const auto products = static_cast<double>(sums[channels + c]);
    factor[c] = static_cast<F>(static_cast<double>(weight[c]) * rstd);
    shift[c] = static_cast<F>(static_cast<double>(sums[c]) / rows);
    slope[c] = static_cast<F>(products / rows / variance);
    sums[channels + c] = static_cast<F>(products * rstd);
  }
}

Triple batch_norm_backward_chunks(const at::Tensor& given_grad, const at::Tensor& input,
                                  const at::Tensor& given_mean, const at::Tensor& given_var,
                                  const at::Tensor& given_weight, double eps) {
  const auto x = input.contiguous(), grad = given_grad.contiguous(), mean = given_mean.contiguous(),
             var = given_var.contiguous(), weight = given_weight.to(mean.scalar_type()).contiguous();
  const auto grad_x = at::empty(x.sizes(), x.options());
  const auto of_channels = at::empty({3, x.size(-1)}, mean.options());
  const int64_t channels = x.size(-1), chunk = chunk_of(x);
  BatchNormPlan plan = {.x = x.const_data_ptr(),
                        .grad = grad.const_data_ptr(),
                        .mean = mean.const_data_ptr(),
                        .factor = nullptr,
                        .shift = nullptr,
                        .slope = nullptr,
                        .out = grad_x.mutable_data_ptr(),
                        .channels = channels};
  const auto parts = at::zeros({chunks_of(x), 2, channels}, mean.options());
  at::Tensor sums;
  dispatch_floating(x.scalar_type(), "batch_norm_backward", [&]<class T>() {
    using F = Sum<T>;
    const auto& loops = *ops::loops().of<T>().batch_norm;
    F* to = parts.mutable_data_ptr<F>();
    for_row_chunks(rows_of(x), chunk, [&](int64_t begin, int64_t end) {
      loops.gradient_sums(plan, begin, end, to + begin / chunk * 2 * channels);
    });
    sums = sum_in_order(parts, parts.scalar_type());
    F* factor = of_channels.mutable_data_ptr<F>();
    F* shift = factor + channels;
    F* slope = shift + channels;
    channel_gradients(sums.mutable_data_ptr<F>(), var.const_data_ptr<F>(), weight.const_data_ptr<F>(),
                      static_cast<double>(rows_of(x)), eps, channels, factor, shift, slope);
    plan.factor = factor;
    plan.shift = shift;
    plan.slope = slope;
    for_row_chunks(rows_of(x), chunk, [&](int64_t begin, int64_t end) { loops.gradient(plan, begin, end); });
  });
  return {grad_x, sums.select(0, 1).clone(), sums.select(0, 0).clone()};
}

using BatchNormBackwardKernels = KernelList<Triple(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                                   const at::Tensor&, const at::Tensor&, double)>;
const BatchNormBackwardKernels batch_norm_backward_kernels(
    "batch_norm_backward",
    {{"chunks", BatchNormBackwardKernels::takes_all, batch_norm_backward_chunks},
     {"reference", BatchNormBackwardKernels::takes_all, reference::batch_norm_backward}});

Triple batch_norm_backward_checked(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& mean,
                                   const at::Tensor& var, const at::Tensor& weight, double eps) {
  check_batch_norm_backward_args(grad, x, mean, var, weight, eps);
  return batch_norm_backward_kernels.run(x.device(), grad, x, mean, var, weight, eps);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("batch_norm", batch_norm_checked);
  m.impl("batch_norm_backward", batch_norm_backward_checked);
}

}  // namespace modewise::ops
