#pragma once
// Attention registry: one entry per attention type over a sequence (TensorAttentionOptions::form), with the
// options it supports and its functions. All code that depends on the type looks it up here.

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "modewise/ops/attention/attention_cache.h"
#include "modewise/ops/attention/cache_size.h"
#include "modewise/ops/attention/tensor_attention.h"

namespace modewise::ops {

/// Arguments of tensor_attention. With a token_mask, keys and values of masked tokens are 0.
struct SequenceTensors {
  at::Tensor q, k, v, latents;
  RotaryEmbedding rotary;
  std::optional<at::Tensor> token_mask;
};

struct AttentionType {
  std::string_view name;
  // Supported fields of TensorAttentionOptions; `latents`: blocks have learned summary tokens.
  bool fold = false, window = false, sinks = false, density = false, latents = false;

  /// tensor_attention with checked arguments.
  at::Tensor (*run)(const SequenceTensors& t, const TensorAttentionOptions& options) = nullptr;
  /// Makes the cache; null for types in which an earlier token's result depends on later ones.
  std::unique_ptr<AttentionCache::Memory> (*memory)(const TensorAttentionOptions& options, double scale,
                                                    const at::Tensor& latents,
                                                    const RotaryEmbedding& rotary) = nullptr;
  /// Size of the cache with rows of `row` bytes.
  CacheBytes (*cache)(const TensorAttentionOptions& options, const CacheShape& shape, const CachedText& text,
                      double row) = nullptr;
  /// See compared_pairs.
  double (*pairs)(const TensorAttentionOptions& options, int64_t summary_tokens, int64_t n) = nullptr;

  /// Whether positions are indices along the modes instead of token positions.
  bool by_modes() const { return fold && !latents; }
};

std::span<const AttentionType> attention_types();
/// nullptr for an unknown name.
const AttentionType* find_attention_type(std::string_view name);
/// Raises ValueError with the list of types for an unknown name.
const AttentionType& attention_type(std::string_view name);

/// Levels of blocks with latents: m − 1 for a fold of m modes, 0 for types without latents.
int64_t latent_levels(const TensorAttentionOptions& options);

/// Query-key pairs of one head over n tokens, with the latents of complete blocks, `summary_tokens` per
/// block, among the queries. A pair costs a dot product of width d and one multiply-add of width e after the
/// softmax. Types axial and pooled count all cells of the fold; random and topk the whole matrix.
double compared_pairs(const TensorAttentionOptions& options, int64_t summary_tokens, int64_t n);

}  // namespace modewise::ops
