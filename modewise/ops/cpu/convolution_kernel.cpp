// Convolution as implicit im2col GEMM: the windows of x, read in place from a zero-padded copy, times the
// weight. The gradient of x is such a product too: with stride s the cells of one mode fall into s phases
// that are reached by different taps, so each phase is a product of its own and no tap multiplies zeros. The
// gradient of the weight is a product over the output positions.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/cpu/row_sums.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/cpu/weight_gradient.h"
#include "modewise/ops/cpu/windows.h"
#include "modewise/ops/dense/convolution_checks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

/// to[n · n_step + t · tap_step + c] = weight[n, c, taps[t]], for a weight [C', C, K_1 … K_k] with its taps
/// flattened.
void put_taps(const at::Tensor& weight, const std::vector<int64_t>& taps, int64_t n_step, int64_t tap_step,
              const at::Tensor& to) {
  const int64_t channels = weight.size(1), of_channel = weight.numel() / (weight.size(0) * channels);
  dispatch_floating(weight.scalar_type(), "convolution", [&]<class T>() {
    const auto* from = static_cast<const T*>(weight.const_data_ptr());
    auto* out = static_cast<T*>(to.mutable_data_ptr());
    for_tasks(weight.size(0), channels * of_channel, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        for (size_t t = 0; t < taps.size(); ++t) {
          const T* w = from + n * channels * of_channel + taps[t];
          T* row = out + n * n_step + static_cast<int64_t>(t) * tap_step;
          for (int64_t c = 0; c < channels; ++c) row[c] = w[c * of_channel];
        }
    });
  });
}

/// Inverse layout: weight [C', C, K_1 … K_k] from rows [C', K_1 … K_k · C].
at::Tensor taps_last(const at::Tensor& rows, at::IntArrayRef sizes) {
  const at::Tensor weight = at::empty(sizes, rows.options());
  const int64_t channels = sizes[1], taps = rows.size(1) / channels;
  dispatch_floating(rows.scalar_type(), "convolution", [&]<class T>() {
    const auto* from = static_cast<const T*>(rows.const_data_ptr());
    auto* to = static_cast<T*>(weight.mutable_data_ptr());
    for_tasks(sizes[0], channels * taps, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        for (int64_t c = 0; c < channels; ++c) {
          const T* row = from + n * taps * channels + c;
          T* w = to + (n * channels + c) * taps;
          for (int64_t t = 0; t < taps; ++t) w[t] = row[t * channels];
        }
    });
  });
  return weight;
}

std::vector<Padding> padding_of(const std::vector<ModeWindows>& modes, const at::Tensor& x) {
  std::vector<Padding> padding;
  for (size_t i = 0; i < modes.size(); ++i) padding.push_back(Padding::of(modes[i], x.sizes()[i + 1]));
  return padding;
}

/// Windows of x at each output position.
std::vector<ModeWindows> forward_windows(const at::Tensor& weight, at::IntArrayRef out_sizes,
                                         const ConvolutionSteps& steps) {
  std::vector<ModeWindows> modes;
  for (size_t i = 0; i < steps.stride.size(); ++i)
    modes.push_back({.positions = out_sizes[i + 1],
                     .taps = weight.sizes()[i + 2],
                     .first = -steps.padding[i],
                     .step = steps.stride[i],
                     .tap_step = steps.dilation[i]});
  return modes;
}

/// out [rows, M] = im2col windows · factor [depth, M] + bias.
void multiply_windows(const Windows& windows, const at::Tensor& factor, const at::Tensor& bias,
                      const at::Tensor& out) {
  gemm(out.scalar_type(), {windows.dense().defined() ? gemm_plan(windows.dense(), factor, bias, out)
                                                     : gemm_plan(windows.matrix(), factor, bias, out)});
}

/// One phase of the gradient of x: cells first, first + stride, … of one mode, the taps that reach them (in
/// descending order, so that their output positions ascend), and these output positions.
struct Phase {
  int64_t first;
  std::vector<int64_t> taps;
  ModeWindows windows;
};

std::vector<Phase> phases_of(int64_t n, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  std::vector<Phase> phases;
  for (int64_t first = 0; first < std::min(stride, n); ++first) {
    Phase phase{first, {}, {}};
    for (int64_t t = kernel - 1; t >= 0; --t)
      if ((first + padding - t * dilation) % stride == 0) phase.taps.push_back(t);
    if (!phase.taps.empty())
      phase.windows = {.positions = (n - first + stride - 1) / stride,
                       .taps = static_cast<int64_t>(phase.taps.size()),
                       .first = (first + padding - phase.taps.front() * dilation) / stride,
                       .step = 1,
                       .tap_step = dilation / std::gcd(stride, dilation)};
    phases.push_back(std::move(phase));
  }
  return phases;
}

at::Tensor convolution_tiles(const at::Tensor& x, const at::Tensor& weight,
                             const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                             at::IntArrayRef padding, at::IntArrayRef dilation) {
  const ConvolutionSteps steps{stride, padding, dilation};
  const auto sizes = C10_AS_INTARRAYREF_SLOW(c10::SymIntArrayRef(convolution_sizes(x, weight, steps))).vec();
  const at::Tensor out = at::empty(sizes, x.options());
  if (out.numel() == 0) return out;
  const auto modes = forward_windows(weight, sizes, steps);
  const PaddedCells padded(x, padding_of(modes, x));
  const Windows windows(padded, modes);
  const int64_t depth = windows.depth(), channels = x.size(-1);
  const at::Tensor rows = at::empty({weight.size(0), depth}, x.options());
  std::vector<int64_t> taps(static_cast<size_t>(depth / channels));
  std::iota(taps.begin(), taps.end(), 0);
  put_taps(weight.to(x.scalar_type()).contiguous(), taps, depth, channels, rows);
  const at::Tensor added = bias ? bias->to(x.scalar_type()).contiguous() : at::Tensor();
  multiply_windows(windows, rows.t(), added, out.view({-1, sizes.back()}));
  return out;
}

const KernelList<at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                            at::IntArrayRef, at::IntArrayRef, at::IntArrayRef)>
    convolution_kernels("convolution",
                        {{"tiles", decltype(convolution_kernels)::takes_all, convolution_tiles},
                         {"reference", decltype(convolution_kernels)::takes_all, reference::convolution}});

at::Tensor convolution_checked(const at::Tensor& x, const at::Tensor& weight,
                               const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                               at::IntArrayRef padding, at::IntArrayRef dilation) {
  check_convolution_args(x, weight, bias, {stride, padding, dilation});
  return convolution_kernels.run(x.device(), x, weight, bias && bias->defined() ? bias : std::nullopt, stride,
                                 padding, dilation);
}

/// Kernel taps, flattened over the modes, that reach the cells of one phase of every mode.
std::vector<int64_t> taps_of(const std::vector<const Phase*>& phases, const at::Tensor& weight) {
  std::vector<int64_t> taps = {0};
  for (size_t i = 0; i < phases.size(); ++i) {
    std::vector<int64_t> next;
    for (const int64_t outer : taps)
      for (const int64_t t : phases[i]->taps) next.push_back(outer * weight.sizes()[i + 2] + t);
    taps = std::move(next);
  }
  return taps;
}

/// Computes the part of out [B, N_1 … N_k, C] that one phase of every mode covers.
void phase_gradient(const PaddedCells& grad, const at::Tensor& weight, at::IntArrayRef stride,
                    const std::vector<const Phase*>& phases, const at::Tensor& out) {
  at::Tensor part = out;
  std::vector<ModeWindows> modes;
  for (size_t i = 0; i < phases.size(); ++i) {
    part = part.slice(static_cast<int64_t>(i) + 1, phases[i]->first, std::nullopt, stride[i]);
    modes.push_back(phases[i]->windows);
  }
  const std::vector<int64_t> taps = taps_of(phases, weight);
  if (taps.empty()) {
    part.zero_();
    return;
  }
  const Windows windows(grad, modes);
  const int64_t from = weight.size(0), to = weight.size(1);
  const at::Tensor factor = at::empty({windows.depth(), to}, weight.options());
  put_taps(weight, taps, to, from * to, factor);
  const at::Tensor dense = part.is_contiguous() ? part : at::empty(part.sizes(), part.options());
  multiply_windows(windows, factor, {}, dense.view({-1, to}));
  if (!part.is_contiguous()) part.copy_(dense);
}

at::Tensor x_gradient(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight,
                      const ConvolutionSteps& steps) {
  const at::Tensor out = at::empty(x.sizes(), x.options());
  std::vector<std::vector<Phase>> modes;
  std::vector<Padding> padding(steps.stride.size());
  for (size_t i = 0; i < steps.stride.size(); ++i) {
    modes.push_back(phases_of(x.sizes()[i + 1], weight.sizes()[i + 2], steps.stride[i], steps.padding[i],
                              steps.dilation[i]));
    for (const Phase& phase : modes.back())
      if (!phase.taps.empty()) padding[i] = padding[i].with(Padding::of(phase.windows, grad.sizes()[i + 1]));
  }
  const PaddedCells padded(grad, std::move(padding));
  const at::Tensor factor = weight.to(x.scalar_type()).contiguous();
  size_t all = 1;
  for (const auto& phases : modes) all *= phases.size();
  for (size_t index = 0; index < all; ++index) {
    std::vector<const Phase*> chosen;
    size_t rest = index;
    for (const auto& phases : modes) {
      chosen.push_back(&phases[rest % phases.size()]);
      rest /= phases.size();
    }
    phase_gradient(padded, factor, steps.stride, chosen, out);
  }
  return out;
}

at::Tensor weight_gradient(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight,
                           const ConvolutionSteps& steps) {
  const auto modes = forward_windows(weight, grad.sizes(), steps);
  const PaddedCells padded(x, padding_of(modes, x));
  const Windows windows(padded, modes);
  const at::Tensor upstream = grad.view({-1, grad.size(-1)});
  const at::Tensor rows =
      windows.dense().defined()
          ? product_over_rows(upstream, windows.dense(), weight.scalar_type())
          : product_over_rows(upstream, windows.matrix(), windows.depth(), weight.scalar_type());
  return taps_last(rows, weight.sizes());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward_tiles(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool x_wanted, bool weight_wanted, bool bias_wanted) {
  const ConvolutionSteps steps{stride, padding, dilation};
  const at::Tensor upstream = grad.contiguous();
  const auto none = [](const at::Tensor& like) { return at::empty({0}, like.options()); };
  return {
      x_wanted ? x_gradient(upstream, x, weight, steps) : none(x),
      weight_wanted ? weight_gradient(upstream, x, weight, steps) : none(weight),
      bias_wanted ? sum_over_rows(upstream.view({-1, weight.size(0)}), weight.scalar_type()) : none(weight)};
}

using ConvolutionBackwardKernels = KernelList<std::tuple<at::Tensor, at::Tensor, at::Tensor>(
    const at::Tensor&, const at::Tensor&, const at::Tensor&, at::IntArrayRef, at::IntArrayRef,
    at::IntArrayRef, bool, bool, bool)>;
const ConvolutionBackwardKernels convolution_backward_kernels(
    "convolution_backward",
    {{"tiles", ConvolutionBackwardKernels::takes_all, convolution_backward_tiles},
     {"reference", ConvolutionBackwardKernels::takes_all, reference::convolution_backward}});

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward_checked(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool x_wanted, bool weight_wanted, bool bias_wanted) {
  check_convolution_backward_args(grad, x, weight, {stride, padding, dilation});
  return convolution_backward_kernels.run(x.device(), grad, x, weight, stride, padding, dilation, x_wanted,
                                          weight_wanted, bias_wanted);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("convolution", convolution_checked);
  m.impl("convolution_backward", convolution_backward_checked);
}

}  // namespace modewise::ops
