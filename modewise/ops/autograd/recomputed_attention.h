#pragma once
// Attention whose intermediate results are computed again in the backward pass, for strips of queries.

#include <ATen/core/Tensor.h>

#include <functional>

namespace modewise::ops {

using AttentionBody =
    std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>;

/// body(q, k, v); only q, k and v are kept for the gradients. `body` must return the same bits in each call;
/// it may capture tensors without gradients. First order only.
at::Tensor recomputed_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                const AttentionBody& body);

}  // namespace modewise::ops
