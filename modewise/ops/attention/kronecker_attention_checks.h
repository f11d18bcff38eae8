#pragma once
// Argument checks of kronecker_attention and mode_attention.

#include "modewise/ops/attention/kronecker_attention.h"

namespace modewise::ops {

/// `op` is the operator's name in error messages. Raises ValueErrors that name argument and shapes.
void check_kronecker_attention_args(const char* op, const at::Tensor& x,
                                    const KroneckerAttentionWeights& weights,
                                    const KroneckerAttentionOptions& options,
                                    const std::optional<at::Tensor>& token_mask,
                                    const std::vector<std::optional<at::Tensor>>& mode_masks);

}  // namespace modewise::ops
