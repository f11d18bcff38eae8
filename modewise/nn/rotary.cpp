#include "modewise/nn/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace modewise::nn {
namespace {

/// [N_1 or 1, …, N_k or 1, 1, d/2] float64
at::Tensor rotary_angles(at::IntArrayRef sizes, const std::vector<int64_t>& modes, int64_t half, double base,
                         at::Device device) {
  const auto options = at::TensorOptions(at::kDouble).device(device);
  const int64_t share = half / static_cast<int64_t>(modes.size());
  std::vector<int64_t> shape(sizes.size(), 1);
  for (int64_t mode : modes) shape[static_cast<size_t>(mode)] = sizes[static_cast<size_t>(mode)];
  shape.push_back(1);
  shape.push_back(half);
  at::Tensor angles = at::zeros(shape, options);
  for (size_t i = 0; i < modes.size(); ++i) {
    const int64_t mode = modes[i];
    const at::Tensor frequency =
        (at::arange(share, options) * (-std::log(base) / static_cast<double>(share))).exp();
    std::vector<int64_t> place(shape.size(), 1);
    place[static_cast<size_t>(mode)] = shape[static_cast<size_t>(mode)];
    const at::Tensor index = at::arange(shape[static_cast<size_t>(mode)], options).view(place);
    angles.narrow(-1, static_cast<int64_t>(i) * share, share).copy_(index * frequency);
  }
  return angles;
}

}  // namespace

at::Tensor rotate(const at::Tensor& x, int64_t heads, const std::vector<int64_t>& modes, double base) {
  const int64_t half = x.size(-1) / heads / 2;
  if (modes.empty()) return x;
  const at::Tensor angles =
      rotary_angles(x.sizes().slice(1, static_cast<size_t>(x.dim() - 2)), modes, half, base, x.device());
  const at::Tensor cosine = angles.cos().to(x.scalar_type()), sine = angles.sin().to(x.scalar_type());
  std::vector<int64_t> split = x.sizes().vec();
  split.back() = heads;
  split.push_back(2 * half);
  const at::Tensor parts = x.view(split);
  const at::Tensor first = parts.narrow(-1, 0, half), second = parts.narrow(-1, half, half);
  return at::cat({first * cosine - second * sine, second * cosine + first * sine}, -1).view(x.sizes());
}

}  // namespace modewise::nn
