#pragma once
// Size of an AttentionCache, computed in advance to check whether it fits in memory.

#include <c10/core/ScalarType.h>

#include <cstdint>

#include "modewise/ops/attention/tensor_attention.h"

namespace modewise::ops {

/// Cache shape of one sample: query and key-value heads, head width, latents per block (type summary), dtype
/// of keys and values.
struct CacheShape {
  int64_t heads, kv_heads, width, summary_tokens;
  at::ScalarType type;
};

/// Schedule of the sequence: `prompt` tokens in steps of `chunk`, then `tokens` tokens one by one.
struct CachedText {
  int64_t prompt = 0, chunk = 1, tokens = 0;
};

/// Sizes in bytes; doubles, because a requested sequence may exceed any memory.
struct CacheBytes {
  double kept = 0;    // AttentionCache::bytes() after the sequence, spare capacity included
  double moving = 0;  // largest buffer before its last growth: old and new exist during the copy
  double read = 0;    // rows that the next token reads
};

CacheBytes cache_bytes(const TensorAttentionOptions& options, const CacheShape& shape,
                       const CachedText& text);

}  // namespace modewise::ops
