#pragma once
// Rotary position codes (Su et al. 2021) in the rotate_half form of Llama as transformers stores it.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace modewise::ops {

/// Turns each head of x [B, N, H, d], d even, by angles [N, d/2] float64, in radians: with (a, b) the halves
/// of a head, (a cos − b sin, b cos + a sin) · gain. `inverse` turns back.
at::Tensor rotary(const at::Tensor& x, const at::Tensor& angles, double gain = 1, bool inverse = false);

/// The angles [positions, width/2] of positions 0, 1, … with the frequencies base^(−2c/width).
at::Tensor rotary_angles(int64_t positions, int64_t width, double base, at::Device device);

void check_rotary_args(const at::Tensor& x, const at::Tensor& angles);

}  // namespace modewise::ops
