// A convolution is a product of matrices: what the taps see from each position times the weight. Each task
// gathers what it multiplies, a piece at a time, so that it lies in the task's caches. The gradient of x is
// such a product too, of what each cell of x gave to: with a stride s the cells of one mode fall into s
// phases that are reached by different taps, so each phase is a product of its own and no tap is multiplied
// in vain. The gradient of the weight is a product over the positions.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <torch/library.h>

#include <algorithm>
#include <utility>

#include "modewise/ops/convolution_checks.h"
#include "modewise/ops/cpu/dispatch_type.h"
#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/cpu/row_sums.h"
#include "modewise/ops/cpu/weight_gradient.h"
#include "modewise/ops/cpu/windows.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops {

namespace {

std::vector<int64_t> mode_sizes(const at::Tensor& x) {
  return x.sizes().slice(1, static_cast<size_t>(x.dim()) - 2).vec();
}

/// What the taps see of x from each position of the result.
Windows forward_windows(const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef out_sizes,
                        const ConvolutionSteps& steps) {
  std::vector<ModeWindows> modes;
  for (size_t i = 0; i < steps.stride.size(); ++i) {
    const int64_t n = x.sizes()[i + 1], taps = weight.sizes()[i + 2];
    ModeWindows mode{out_sizes[i + 1], taps, {}};
    for (int64_t p = 0; p < mode.positions; ++p)
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t cell = p * steps.stride[i] - steps.padding[i] + t * steps.dilation[i];
        mode.source.push_back(cell >= 0 && cell < n ? cell : -1);
      }
    modes.push_back(std::move(mode));
  }
  return {std::move(modes), mode_sizes(x), x.size(-1)};
}

/// Cells first, first + stride, … of one mode of x, the taps that reach them (last first, so that what they
/// see ascends), and the positions of the result that those belong to.
struct Phase {
  int64_t first, stride;
  std::vector<int64_t> taps;
  ModeWindows windows;
};

std::vector<Phase> phases_of(int64_t n, int64_t kernel, int64_t positions, int64_t stride, int64_t padding,
                             int64_t dilation) {
  std::vector<Phase> phases;
  for (int64_t first = 0; first < std::min(stride, n); ++first) {
    Phase phase{first, stride, {}, {}};
    for (int64_t t = kernel - 1; t >= 0; --t)
      if ((first + padding - t * dilation) % stride == 0) phase.taps.push_back(t);
    for (int64_t cell = first; cell < n; cell += stride) {
      ++phase.windows.positions;
      for (const int64_t t : phase.taps) {
        const int64_t from = cell + padding - t * dilation;
        phase.windows.source.push_back(from >= 0 && from / stride < positions ? from / stride : -1);
      }
    }
    phase.windows.taps = static_cast<int64_t>(phase.taps.size());
    phases.push_back(std::move(phase));
  }
  return phases;
}

/// use(what the taps see of source [B, …, C], as a matrix that is written where it is multiplied).
template <class Use>
auto with_matrix(const Windows& windows, const at::Tensor& source, const Use& use) {
  return dispatch_floating(source.scalar_type(), "convolution", [&]<class T>() {
    const std::pair<const Windows*, const T*> from = {&windows,
                                                      static_cast<const T*>(source.const_data_ptr())};
    return use(MatrixSource{
        &from, [](const void* given, int64_t row, int64_t rows, int64_t column, int64_t columns, void* to) {
          const auto& [seen, x] = *static_cast<const decltype(from)*>(given);
          seen->gather(x, row, row + rows, column, columns, static_cast<T*>(to));
        }});
  });
}

/// out [rows, M] = gathered rows · factor [depth, M] + bias.
void multiply_windows(const Windows& windows, const at::Tensor& source, const at::Tensor& factor,
                      const at::Tensor& bias, const at::Tensor& out) {
  const auto type = source.scalar_type();
  if (windows.identity())
    gemm(type, {gemm_plan(source.view({-1, windows.depth()}), factor, bias, out)});
  else
    with_matrix(windows, source,
                [&](const MatrixSource& rows) { gemm(type, {gemm_plan(rows, factor, bias, out)}); });
}

/// weight [C', C, K_1 … K_k] as [C', K_1 … K_k · C], as the windows are laid out.
at::Tensor taps_first(const at::Tensor& weight) {
  return weight.movedim(1, -1).contiguous().view({weight.size(0), -1});
}

at::Tensor convolution_tiles(const at::Tensor& x, const at::Tensor& weight,
                             const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                             at::IntArrayRef padding, at::IntArrayRef dilation) {
  const ConvolutionSteps steps{stride, padding, dilation};
  const auto sizes = C10_AS_INTARRAYREF_SLOW(c10::SymIntArrayRef(convolution_sizes(x, weight, steps))).vec();
  const at::Tensor out = at::empty(sizes, x.options());
  if (out.numel() == 0) return out;
  const auto type = x.scalar_type();
  const at::Tensor factor = taps_first(weight.to(type)).t();
  const at::Tensor added = bias ? bias->to(type).contiguous() : at::Tensor();
  multiply_windows(forward_windows(x, weight, sizes, steps), x.contiguous(), factor, added,
                   out.view({-1, sizes.back()}));
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

/// The part of out [B, N_1 … N_k, C] that one phase of every mode covers.
void phase_gradient(const at::Tensor& grad, const at::Tensor& weight, const std::vector<const Phase*>& phases,
                    const at::Tensor& out) {
  at::Tensor part = out, taps = weight;
  std::vector<ModeWindows> modes;
  for (size_t i = 0; i < phases.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    part = part.slice(at + 1, phases[i]->first, std::nullopt, phases[i]->stride);
    taps = taps.index_select(at + 2, at::tensor(phases[i]->taps, at::kLong));
    modes.push_back(phases[i]->windows);
  }
  if (taps.numel() == 0) {
    part.zero_();
    return;
  }
  const Windows windows(std::move(modes), mode_sizes(grad), grad.size(-1));
  const at::Tensor factor = taps.movedim(0, -1).contiguous().view({taps.size(1), -1}).t();
  const at::Tensor dense = part.is_contiguous() ? part : at::empty(part.sizes(), part.options());
  multiply_windows(windows, grad, factor, {}, dense.view({-1, out.size(-1)}));
  if (!part.is_contiguous()) part.copy_(dense);
}

at::Tensor x_gradient(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight,
                      const ConvolutionSteps& steps) {
  const at::Tensor out = at::empty(x.sizes(), x.options());
  std::vector<std::vector<Phase>> modes;
  for (size_t i = 0; i < steps.stride.size(); ++i)
    modes.push_back(phases_of(x.sizes()[i + 1], weight.sizes()[i + 2], grad.sizes()[i + 1], steps.stride[i],
                              steps.padding[i], steps.dilation[i]));
  const at::Tensor factor = weight.to(x.scalar_type());
  size_t all = 1;
  for (const auto& phases : modes) all *= phases.size();
  for (size_t index = 0; index < all; ++index) {
    std::vector<const Phase*> chosen;
    size_t rest = index;
    for (const auto& phases : modes) {
      chosen.push_back(&phases[rest % phases.size()]);
      rest /= phases.size();
    }
    phase_gradient(grad, factor, chosen, out);
  }
  return out;
}

at::Tensor weight_gradient(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight,
                           const ConvolutionSteps& steps) {
  const Windows windows = forward_windows(x, weight, grad.sizes(), steps);
  const at::Tensor upstream = grad.view({-1, grad.size(-1)});
  const int64_t depth = windows.depth();
  const at::Tensor taps_last = windows.identity()
                                   ? product_over_rows(upstream, x.view({-1, depth}), weight.scalar_type())
                                   : with_matrix(windows, x, [&](const MatrixSource& rows) {
                                       return product_over_rows(upstream, rows, depth, weight.scalar_type());
                                     });
  auto sizes = weight.sizes().vec();
  std::rotate(sizes.begin() + 1, sizes.begin() + 2, sizes.end());
  return taps_last.view(sizes).movedim(-1, 1).contiguous();
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward_tiles(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool x_wanted, bool weight_wanted, bool bias_wanted) {
  const ConvolutionSteps steps{stride, padding, dilation};
  const at::Tensor upstream = grad.contiguous();
  const auto none = [](const at::Tensor& like) { return at::empty({0}, like.options()); };
  return {
      x_wanted ? x_gradient(upstream, x, weight, steps) : none(x),
      weight_wanted ? weight_gradient(upstream, x.contiguous(), weight, steps) : none(weight),
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
