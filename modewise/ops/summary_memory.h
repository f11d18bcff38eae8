#pragma once
// The memory of forms window, lambda and causal: the last tokens in a ring, the first ones, and the slots of
// finished blocks.

#include <memory>

#include "modewise/ops/attention_memory.h"

namespace modewise::ops {

std::unique_ptr<AttentionCache::Memory> make_summary_memory(const TensorAttentionOptions& options,
                                                            double scale, const at::Tensor& latents,
                                                            const RotaryCode& rotary);

}  // namespace modewise::ops
