#pragma once
// Summary attention (attention/summary_attention.h) by Triton kernels.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <tuple>

#include "modewise/ops/attention/summary_attention.h"

namespace modewise::ops::cuda {

std::string summary_attention_refuses(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                      const std::optional<at::Tensor>& latents, const SummaryOptions& options,
                                      const RotaryEmbedding& rotary);
std::tuple<at::Tensor, at::Tensor> summary_attention(const at::Tensor& q, const at::Tensor& k,
                                                     const at::Tensor& v,
                                                     const std::optional<at::Tensor>& latents,
                                                     const SummaryOptions& options,
                                                     const RotaryEmbedding& rotary);
std::string summary_attention_backward_refuses(const at::Tensor& grad, const at::Tensor& q,
                                               const at::Tensor& k, const at::Tensor& v,
                                               const std::optional<at::Tensor>& latents,
                                               const at::Tensor& out, const at::Tensor& logsumexp,
                                               const SummaryOptions& options, const RotaryEmbedding& rotary);
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> summary_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& latents, const at::Tensor& out, const at::Tensor& logsumexp,
    const SummaryOptions& options, const RotaryEmbedding& rotary);

}  // namespace modewise::ops::cuda
