#pragma once
// Rotary position embedding (RoPE, Su et al. 2021) in the rotate_half layout of Llama in transformers.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace modewise::ops {

/// Rotates each head of x [B, N, H, d], d even, by angles [N, d/2] float64, in radians: with (a, b) the
/// halves of a head, (a cos − b sin, b cos + a sin) · gain. `inverse` applies the inverse rotation.
at::Tensor rotary(const at::Tensor& x, const at::Tensor& angles, double gain = 1, bool inverse = false);

/// Angles [N_1·…·N_k, width/2] of the positions of a grid of `sizes` N_1 … N_k: each of `modes` gets an equal
/// number s of frequencies base^(−c/s), c < s; the remaining ones are 0. One mode gives the usual
/// base^(−2c/width).
at::Tensor rotary_angles(at::IntArrayRef sizes, at::IntArrayRef modes, int64_t width, double base,
                         at::Device device);

/// Checks that `modes` are distinct modes of a tensor with `count` of them.
void check_modes(const char* op, const char* name, at::IntArrayRef modes, int64_t count);
void check_rotary_args(const at::Tensor& x, const at::Tensor& angles);

}  // namespace modewise::ops
