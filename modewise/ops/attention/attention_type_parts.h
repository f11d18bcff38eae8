#pragma once
// What the rows of attention_types.cpp are made of.

#include "modewise/ops/attention/attention_types.h"
#include "modewise/ops/attention/summary_memory.h"
#include "modewise/ops/attention/weighted_values.h"

namespace modewise::ops {

// tensor_attention.cpp
/// Scale and dropout, 1/√d where no scale is given.
SoftmaxOptions softmax_options_of(const SequenceTensors& t, const TensorAttentionOptions& options);

// attend_tokens.cpp
/// full: tokens among tokens.
at::Tensor attend_tokens(const SequenceTensors& t, const TensorAttentionOptions& options);
/// window: the last tokens, or those around.
at::Tensor attend_near(const SequenceTensors& t, const TensorAttentionOptions& options);
/// random, topk: a share of the tokens.
at::Tensor attend_sparse(const SequenceTensors& t, const TensorAttentionOptions& options);
/// lambda, causal, and window where it is causal: nearby tokens and summaries in one softmax.
at::Tensor attend_summaries(const SequenceTensors& t, const TensorAttentionOptions& options);

// attend_folded.cpp
/// axial: along one mode after another.
at::Tensor attend_fibres(const SequenceTensors& t, const TensorAttentionOptions& options);
/// pooled: the same with weights that all fibres share.
at::Tensor attend_shared(const SequenceTensors& t, const TensorAttentionOptions& options);

// attention_cache.cpp
/// Every token.
std::unique_ptr<AttentionCache::Memory> keep_tokens(const TensorAttentionOptions& options, double scale,
                                                    const at::Tensor& latents, const RotaryEmbedding& rotary);
/// Every token with the values of each stage.
std::unique_ptr<AttentionCache::Memory> keep_stages(const TensorAttentionOptions& options, double scale,
                                                    const at::Tensor& latents, const RotaryEmbedding& rotary);

// cache_size.cpp
CacheBytes tokens_cache(const TensorAttentionOptions& options, const CacheShape& shape,
                        const CachedText& text, double row);
CacheBytes stages_cache(const TensorAttentionOptions& options, const CacheShape& shape,
                        const CachedText& text, double row);
CacheBytes summary_cache(const TensorAttentionOptions& options, const CacheShape& shape,
                         const CachedText& text, double row);

// compared_pairs.cpp
double token_pairs(const TensorAttentionOptions& options, int64_t slots, int64_t n);
double matrix_pairs(const TensorAttentionOptions& options, int64_t slots, int64_t n);
double near_pairs(const TensorAttentionOptions& options, int64_t slots, int64_t n);
double fibre_pairs(const TensorAttentionOptions& options, int64_t slots, int64_t n);
double summary_pairs(const TensorAttentionOptions& options, int64_t slots, int64_t n);

}  // namespace modewise::ops
