#pragma once
// How large an AttentionCache gets, before there is one: for those who must know whether the memory is there.

#include <c10/core/ScalarType.h>

#include <cstdint>

#include "modewise/ops/attention/tensor_attention.h"

namespace modewise::ops {

/// Of one sample: query and key heads, their width, latents a block (form causal), the type of keys and
/// values.
struct CacheShape {
  int64_t heads, kv_heads, width, slots;
  at::ScalarType type;
};

/// How the text reaches the cache: its first `prompt` tokens in steps of `chunk`, then `tokens` one by one.
struct CachedText {
  int64_t prompt = 0, chunk = 1, tokens = 0;
};

/// In doubles, because a text that is asked for may be longer than any memory.
struct CacheBytes {
  double kept = 0;    // AttentionCache::bytes() behind the text: buffers grow ahead of their rows
  double moving = 0;  // the largest buffer before it grew last: while it is copied both are there
  double read = 0;    // the rows that a next token reads
};

CacheBytes cache_bytes(const TensorAttentionOptions& options, const CacheShape& shape,
                       const CachedText& text);

}  // namespace modewise::ops
