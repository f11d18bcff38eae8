#pragma once
// The forms of attention over a sequence, a row a form: which options act on it, and where its parts are. All
// that depends on TensorAttentionOptions::form asks here.

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

/// Arguments of tensor_attention. Where there is a mask, keys and values of tokens that are not valid are 0.
struct SequenceTensors {
  at::Tensor q, k, v, latents;
  RotaryEmbedding rotary;
  std::optional<at::Tensor> token_mask;
};

struct AttentionType {
  std::string_view name;
  // What of TensorAttentionOptions acts on it; `latents`: blocks have learned summaries.
  bool fold = false, window = false, sinks = false, density = false, latents = false;

  /// tensor_attention, arguments checked.
  at::Tensor (*run)(const SequenceTensors& t, const TensorAttentionOptions& options) = nullptr;
  /// What an AttentionCache keeps; null where an earlier token's result depends on later ones.
  std::unique_ptr<AttentionCache::Memory> (*memory)(const TensorAttentionOptions& options, double scale,
                                                    const at::Tensor& latents,
                                                    const RotaryEmbedding& rotary) = nullptr;
  /// How large that gets, with rows of `row` bytes.
  CacheBytes (*cache)(const TensorAttentionOptions& options, const CacheShape& shape, const CachedText& text,
                      double row) = nullptr;
  /// compared_pairs.
  double (*pairs)(const TensorAttentionOptions& options, int64_t slots, int64_t n) = nullptr;

  /// Positions are counted along the modes.
  bool by_modes() const { return fold && !latents; }
};

std::span<const AttentionType> attention_types();
/// nullptr for a name that no form has.
const AttentionType* find_attention_form(std::string_view name);
/// ValueError that lists the forms for such a name.
const AttentionType& attention_type(std::string_view name);

/// Levels of blocks that have latents: m − 1 of a fold of m modes, 0 for forms without.
int64_t latent_levels(const TensorAttentionOptions& options);

/// How many queries are compared with how many keys in one head over n tokens, with the latents of finished
/// blocks, `slots` each, among the queries. Each is a product of d numbers, and one of e numbers behind the
/// softmax. For axial and pooled all cells of the fold count; random and topk make the whole matrix.
double compared_pairs(const TensorAttentionOptions& options, int64_t slots, int64_t n);

}  // namespace modewise::ops
