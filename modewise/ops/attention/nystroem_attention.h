#pragma once
// Landmark attention of Nyströmformer (Xiong et al., AAAI 2021), with cost linear in the number of tokens.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace modewise::ops {

/// softmax(s q k̃ᵀ) · Z · softmax(s q̃ kᵀ) v + convolution(v): q, k [B, n, H, d], v [B, n, H, e] -> [B, n, H,
/// e], s = `scale` (0: 1/√d). Landmarks q̃, k̃ [m, d] are means of m segments of the valid tokens, as equal
/// in length as possible; Z is the pseudo-inverse of softmax(s q̃ k̃ᵀ) by six third-order iterations from its
/// transpose over its largest column sum (the paper's Eqs. 9–14). A sample of at most m valid tokens uses
/// full attention, as the authors' code does for n = m. `kernel` [H, w], w odd: the residual depthwise
/// convolution of the values along the tokens; none: without. token_mask [B, n] bool, true = valid; values of
/// masked tokens are taken as 0, and their output rows are 0.
at::Tensor nystroem_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const std::optional<at::Tensor>& kernel,
                              const std::optional<at::Tensor>& token_mask, int64_t landmarks,
                              double scale = 0);

}  // namespace modewise::ops
