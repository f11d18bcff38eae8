#pragma once
// dot_product_attention by libtorch's fused attention kernels, for CUDA tensors (which devices have which
// kernel is libtorch's choice; the functions accept any device).

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace modewise::ops::cuda {

/// Arguments as those of the operator (attention/dot_product_attention.h).
at::Tensor dot_product_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const std::optional<at::Tensor>& mask, bool causal, double scale);
std::tuple<at::Tensor, at::Tensor, at::Tensor> dot_product_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& mask, bool causal, double scale);

}  // namespace modewise::ops::cuda
