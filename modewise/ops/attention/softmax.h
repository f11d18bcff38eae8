#pragma once
// Softmax over the last dimension whose gradients are deterministic for any number of threads; libtorch's are
// not for row lengths that are not a multiple of the vector width. And averages along a mode by such weights,
// for rows of a masked mode product whose valid cells have nearly no weight.

#include <ATen/core/Tensor.h>

#include <functional>

namespace modewise::ops {

/// softmax(x) [..., N] in the dtype of x; differentiable once.
at::Tensor softmax(const at::Tensor& x);

/// Values, and the logarithm of the weight of the cells that they average; −∞: none is valid.
struct WeightedCells {
  at::Tensor value;       // [B, N_1 … N_k, H·d]
  at::Tensor log_weight;  // [B, N_1 … N_k, H], in the dtype of value
};

/// Averages over the keys of `mode` by the weights exp(logits + log_weight), logits [B, H, M, N]. Each weight
/// is relative to the largest of its row, so that they cannot all underflow, as those of a mode product with
/// softmax(logits) can. `kept` [B, H, M, N]: factors of dropout, or undefined. Rows without a valid key are
/// 0.
WeightedCells average_along_mode(const WeightedCells& x, int64_t mode, const at::Tensor& logits,
                                 const at::Tensor& kept);

/// Samples [B] that have rows of a weight below 10⁻¹² (the gradient of a quotient has the square of its
/// divisor) which are `reachable`: [B, …] bool, computed if there are such weights. Undefined: no sample, or
/// weights that cannot be read here (meta tensors, transforms).
at::Tensor samples_of_tiny_weight(const at::Tensor& weight, const std::function<at::Tensor()>& reachable);

/// chosen(samples) for the samples where `mask` [B] is true, rest(samples) for the others, in their order: so
/// that no sample depends on those beside it. Samples are numbers [n] int64; results are [n, …].
at::Tensor by_sample(const at::Tensor& mask, const std::function<at::Tensor(const at::Tensor&)>& chosen,
                     const std::function<at::Tensor(const at::Tensor&)>& rest);

}  // namespace modewise::ops
