#pragma once
// Rotary position codes (Su et al. 2021) in the rotate_half form of Llama as transformers stores it.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace modewise::ops {

/// Turns each head of x [B, N, H, d], d even, by angles [N, d/2] float64, in radians: with (a, b) the halves
/// of a head, (a cos − b sin, b cos + a sin) · gain. `inverse` turns back.
at::Tensor rotary(const at::Tensor& x, const at::Tensor& angles, double gain = 1, bool inverse = false);

/// The angles [N_1·…·N_k, width/2] of the places of a grid of `sizes` N_1 … N_k: each of `modes` has an equal
/// share of s numbers, with the frequencies base^(−c/s), c < s; what is left over is 0. One mode gives the
/// usual base^(−2c/width).
at::Tensor rotary_angles(at::IntArrayRef sizes, at::IntArrayRef modes, int64_t width, double base,
                         at::Device device);

void check_rotary_args(const at::Tensor& x, const at::Tensor& angles);

}  // namespace modewise::ops
