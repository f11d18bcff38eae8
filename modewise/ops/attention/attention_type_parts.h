#pragma once
// Functions of the attention registry entries in attention_types.cpp.

#include "modewise/ops/attention/attention_types.h"
#include "modewise/ops/attention/summary_memory.h"
#include "modewise/ops/attention/weighted_values.h"

namespace modewise::ops {

// tensor_attention.cpp
/// Softmax options: scale (default 1/√d) and dropout.
SoftmaxOptions softmax_options_of(const SequenceTensors& t, const TensorAttentionOptions& options);

// attend_tokens.cpp
/// full: attention among all tokens.
at::Tensor attend_tokens(const SequenceTensors& t, const TensorAttentionOptions& options);
/// window: sliding window over the last tokens (causal) or around each token.
at::Tensor attend_near(const SequenceTensors& t, const TensorAttentionOptions& options);
/// random, topk: sparse attention to a fraction of the tokens.
at::Tensor attend_sparse(const SequenceTensors& t, const TensorAttentionOptions& options);
/// lambda, summary, and causal window: nearby tokens and summary tokens in one softmax.
at::Tensor attend_summaries(const SequenceTensors& t, const TensorAttentionOptions& options);

// attend_folded.cpp
/// axial: attention along one mode after another.
at::Tensor attend_fibres(const SequenceTensors& t, const TensorAttentionOptions& options);
/// pooled: along one mode after another, with weights shared by all fibres.
at::Tensor attend_shared(const SequenceTensors& t, const TensorAttentionOptions& options);

// attention_cache.cpp
/// Caches every token.
std::unique_ptr<AttentionCache::Memory> keep_tokens(const TensorAttentionOptions& options, double scale,
                                                    const at::Tensor& latents, const RotaryEmbedding& rotary);
/// Caches every token with the values of each stage.
std::unique_ptr<AttentionCache::Memory> keep_stages(const TensorAttentionOptions& options, double scale,
                                                    const at::Tensor& latents, const RotaryEmbedding& rotary);

// cache_size.cpp
CacheBytes tokens_cache(const TensorAttentionOptions& options, const CacheShape& shape,
                        const CachedText& text, double row);
CacheBytes stages_cache(const TensorAttentionOptions& options, const CacheShape& shape,
                        const CachedText& text, double row);
CacheBytes summary_cache(const TensorAttentionOptions& options, const CacheShape& shape,
                         const CachedText& text, double row);

}  // namespace modewise::ops
