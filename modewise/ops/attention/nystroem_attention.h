#pragma once
// Attention by landmarks: Nyströmformer (Xiong et al., AAAI 2021), whose cost grows with the tokens and not
// with their square.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace modewise::ops {

/// softmax(s q k̃ᵀ) · Z · softmax(s q̃ kᵀ) v + convolution(v): q, k [B, n, H, d], v [B, n, H, e] -> [B, n, H,
/// e], s = `scale` (0: 1/√d). Landmarks q̃, k̃ [m, d] are means of m segments of the valid tokens, as equally
/// long as they divide; Z is the pseudo-inverse of softmax(s q̃ k̃ᵀ) by six steps of third order from its
/// transpose over its largest column sum (the paper's Eqs. 9–14). A sample of no more than m valid tokens
/// has full attention, as its authors have it for n = m. `kernel` [H, w], w odd: a depthwise convolution of
/// the values along the tokens, its residual term; none: without. token_mask [B, n] bool, true = valid;
/// values under others count as 0, and so are their rows.
at::Tensor nystroem_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const std::optional<at::Tensor>& kernel,
                              const std::optional<at::Tensor>& token_mask, int64_t landmarks,
                              double scale = 0);

}  // namespace modewise::ops
