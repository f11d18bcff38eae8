#pragma once
// dot_product_attention of short sequences, such as the fibres of axial attention, by Triton kernels: a
// program holds all queries and keys of a head.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <tuple>

namespace modewise::ops::cuda {

/// Arguments as those of the operator (attention/dot_product_attention.h).
std::string short_attention_refuses(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const std::optional<at::Tensor>& mask, bool causal, double scale);
at::Tensor short_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const std::optional<at::Tensor>& mask, bool causal, double scale);
std::string short_attention_backward_refuses(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                                             const at::Tensor& v, const std::optional<at::Tensor>& mask,
                                             bool causal, double scale);
std::tuple<at::Tensor, at::Tensor, at::Tensor> short_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& mask, bool causal, double scale);

}  // namespace modewise::ops::cuda
