#pragma once
// KV cache of types window, lambda and summary: a ring buffer of the last tokens, the first tokens, and the
// summary tokens of complete blocks.

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/ops/attention/attention_memory.h"
#include "modewise/ops/attention/fold_levels.h"

namespace modewise::ops {

/// Maximum number of tokens per step.
constexpr int64_t kCachePart = 256;

/// Levels for a sequence of any length, without those whose blocks are never complete.
std::vector<FoldLevel> cached_levels(const std::vector<int64_t>& fold);
/// Maximum number of cached summary tokens of a level: no token follows the last sibling in its group.
int64_t kept_summary_tokens(const FoldLevel& level, int64_t summary_tokens);

std::unique_ptr<AttentionCache::Memory> make_summary_memory(const TensorAttentionOptions& options,
                                                            double scale, const at::Tensor& latents,
                                                            const RotaryEmbedding& rotary);

}  // namespace modewise::ops
