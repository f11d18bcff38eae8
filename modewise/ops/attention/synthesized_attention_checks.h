#pragma once
// Argument checks of synthesized_attention, and its gradients.

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

#include "modewise/ops/attention/synthesized_attention.h"

namespace modewise::ops {

void check_synthesized_attention_args(const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
                                      const std::optional<at::Tensor>& key_mask, bool causal);

/// Gradients of v, left, right, outer and inner from grad [B, n, H, e]; empty for absent parts.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> synthesized_attention_backward(
    const at::Tensor& grad, const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
    const std::optional<at::Tensor>& key_mask, bool causal);

}  // namespace modewise::ops
