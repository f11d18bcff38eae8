#include "modewise/ops/attention/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "modewise/ops/arguments.h"

namespace modewise::ops {

void check_modes(const char* op, const char* name, at::IntArrayRef modes, int64_t count) {
  for (const int64_t mode : modes) {
    TORCH_CHECK_VALUE(mode >= 0 && mode < count, op, ": ", name, " must be from 0 to ", count - 1, ", got ",
                      mode);
    TORCH_CHECK_VALUE(std::count(modes.begin(), modes.end(), mode) == 1, op, ": ", name,
                      " must not repeat a mode, got ", modes);
  }
}

void check_rotary_args(const at::Tensor& x, const at::Tensor& angles) {
  check_floating("rotary", "x", x);
  TORCH_CHECK_VALUE(x.dim() == 4, "rotary: x must be [B, N, H, d], got ", x.sym_sizes());
  TORCH_CHECK_VALUE(x.sym_size(-1) % 2 == 0, "rotary: the head width must be even, got ", x.sym_size(-1),
                    " for x ", x.sym_sizes());
  TORCH_CHECK_VALUE(angles.scalar_type() == at::kDouble, "rotary: angles must be float64, got ",
                    angles.scalar_type());
  check_device("rotary", "angles", angles, "x", x);
  TORCH_CHECK_VALUE(
      angles.dim() == 2 && angles.sym_size(0) == x.sym_size(1) && angles.sym_size(1) * 2 == x.sym_size(-1),
      "rotary: angles must be [", x.sym_size(1), ", ", x.sym_size(-1) / 2, "] for x ", x.sym_sizes(),
      ", got ", angles.sym_sizes());
}

namespace {

/// Whether the values of x can be read now (CPU data, not tracing).
bool has_values(const at::Tensor& x) {
  using Key = c10::DispatchKey;
  const c10::DispatchKeySet traced(
      {Key::Python, Key::Functionalize, Key::FuncTorchBatched, Key::FuncTorchGradWrapper});
  return x.device().is_cpu() && !x.key_set().has_any(traced);
}

}  // namespace

void check_positions(const char* op, const at::Tensor& positions, const at::Tensor& q) {
  check_device(op, "positions", positions, "q", q);
  TORCH_CHECK_VALUE(
      positions.scalar_type() == at::kLong && positions.dim() == 1 && positions.sym_size(0) == q.sym_size(1),
      op, ": positions must be int64 [", q.sym_size(1), "] for q ", q.sym_sizes(), ", got ",
      positions.scalar_type(), " ", positions.sym_sizes());
  if (!has_values(positions)) return;
  const auto* position = positions.const_data_ptr<int64_t>();
  for (int64_t i = 0, step = positions.stride(0); i < positions.size(0); ++i)
    check_integer(op, "each of positions", position[i * step], -kMaxInteger);
}

at::Tensor rotary_angles(at::IntArrayRef sizes, at::IntArrayRef modes, int64_t width, double base,
                         at::Device device) {
  TORCH_CHECK_VALUE(base > 0 && std::isfinite(base), "rotary_angles: base must be positive and finite, got ",
                    base);
  check_modes("rotary_angles", "modes", modes, static_cast<int64_t>(sizes.size()));
  const int64_t count = std::max<int64_t>(std::ssize(modes), 1), share = width / 2 / count;
  TORCH_CHECK_VALUE(width >= 2, "rotary_angles: heads need at least 2 channels, got ", width);
  const auto options = at::TensorOptions(at::kDouble).device(device);
  const auto frequencies = at::pow(base, at::arange(share, options) * (-1.0 / static_cast<double>(share)));
  auto shape = sizes.vec();
  shape.push_back(width / 2);
  const auto angles = at::zeros(shape, options);
  for (size_t i = 0; i < modes.size(); ++i) {
    std::vector<int64_t> place(shape.size(), 1);
    place[static_cast<size_t>(modes[i])] = sizes[static_cast<size_t>(modes[i])];
    angles.narrow(-1, static_cast<int64_t>(i) * share, share)
        .copy_(at::arange(sizes[static_cast<size_t>(modes[i])], options).view(place) * frequencies);
  }
  return angles.flatten(0, -2);
}

at::Tensor rotary(const at::Tensor& x, const at::Tensor& angles, double gain, bool inverse) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("modewise::rotary", "")
                             .typed<at::Tensor(const at::Tensor&, const at::Tensor&, double, bool)>();
  return op.call(x, angles, gain, inverse);
}

namespace {

at::Tensor rotary_meta(const at::Tensor& x, const at::Tensor& angles, double, bool) {
  check_rotary_args(x, angles);
  return at::empty_symint(x.sym_sizes(), x.options());
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("rotary(Tensor x, Tensor angles, float gain=1., bool inverse=False) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, Meta, m) {
  m.impl("rotary", rotary_meta);
}

}  // namespace modewise::ops
