#pragma once
// The memory of forms window, lambda and causal: the last tokens in a ring, the first ones, and the slots of
// finished blocks.

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/ops/attention/attention_memory.h"
#include "modewise/ops/attention/fold_levels.h"

namespace modewise::ops {

/// Tokens that are taken at once, at most.
constexpr int64_t kCachePart = 256;

/// The levels of a text of any length; those whose blocks no text fills are left out.
std::vector<FoldLevel> cached_levels(const std::vector<int64_t>& fold);
/// Slots of a level that are kept at most: nobody comes behind the last sibling in its group.
int64_t kept_slots(const FoldLevel& level, int64_t slots);

std::unique_ptr<AttentionCache::Memory> make_summary_memory(const TensorAttentionOptions& options,
                                                            double scale, const at::Tensor& latents,
                                                            const RotaryEmbedding& rotary);

}  // namespace modewise::ops
