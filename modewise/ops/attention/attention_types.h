#pragma once
// Attention registry: one row per attention type, with its capabilities, the options that it uses and, over a
// sequence, its operator, cache and pair count. Code that depends on the type looks it up here. Modules of
// the same names: nn::sequence_constructors() and nn::grid_constructors().

#include <ATen/core/Tensor.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// An option of one type over a sequence, a whole number: `attention.<name>` in configs.
struct AttentionOption {
  std::string_view name, help;
  int64_t standard = 0, min = 0, max = 1 << 20;
  std::string_view type = {};  // set by attention_options()
};
/// The own options of all types, in the order of the table.
const std::vector<AttentionOption>& attention_options();

/// Values of attention_options().
class AttentionOptionValues {
 public:
  /// The standard values.
  AttentionOptionValues();
  AttentionOptionValues(const AttentionOptionValues& other) = default;
  /// Copies in place, as Fields point to the values.
  AttentionOptionValues& operator=(const AttentionOptionValues& other);
  ~AttentionOptionValues() = default;

  int64_t& operator[](std::string_view name);
  int64_t operator[](std::string_view name) const;

 private:
  std::vector<int64_t> values_;
};

/// Sizes on which the pair count of a type depends, besides the number of tokens.
struct PairOptions : TensorAttentionOptions {
  int64_t summary_tokens = 1;  // summary: per block
  int64_t head_width = 0;      // performer
  int64_t longest = 0;         // linformer: longest sequence
  AttentionOptionValues own = {};
};

/// Tokens that a type attends over.
enum class TokenLayout {
  sequence,  // [B, n, D]: language models, text encoders and series classifiers
  grid,      // [B, N_1 … N_k, D]: the other models and captioners (docs/synthesizers.md)
};

/// All types take a token mask (true: valid).
struct AttentionType {
  std::string_view name;  // unique in its layout: over a sequence `random` is a mask, over a grid a matrix
  TokenLayout layout = TokenLayout::sequence;
  std::string_view code = "";  // in Table 1 of arXiv 2201.01410; "" for types that are not in it
  std::string_view summary;    // for help

  // Capabilities.
  bool causal = false;           // later tokens can be hidden; false: every row depends on all tokens
  bool cross_attention = false;  // keys may come from other tokens than the queries
  bool dropout = false;          // drops attention weights in training
  bool reads_tokens = true;  // weights depend on the query tokens; else a norm on them would learn nothing
  bool shared_keys = false;  // queries are also the keys: no key_proj
  bool has_module = true;    // false: of language models alone

  // Shared options used, besides its `own`. `latents`: blocks have learned summary
  // tokens. `order`: encoders may attend along the last modes of the fold only. A causal window counts tokens
  // and has no density.
  bool fold = false, order = false, window = false, sinks = false, density = false, latents = false;
  std::array<AttentionOption, 2> own = {};
  /// Its own options in titles of tables, "linformer 64": those that are not 0.
  std::array<std::string_view, 2> titled = {};

  /// tensor_attention with checked arguments; null for types that it does not compute.
  at::Tensor (*run)(const SequenceTensors& t, const TensorAttentionOptions& options) = nullptr;
  /// Makes the cache of a causal type of tensor_attention; null for others.
  std::unique_ptr<AttentionCache::Memory> (*memory)(const TensorAttentionOptions& options, double scale,
                                                    const at::Tensor& latents,
                                                    const RotaryEmbedding& rotary) = nullptr;
  /// Size of that cache with rows of `row` bytes.
  CacheBytes (*cache)(const TensorAttentionOptions& options, const CacheShape& shape, const CachedText& text,
                      double row) = nullptr;
  /// See compared_pairs; null over a grid.
  double (*pairs)(const PairOptions& options, int64_t n) = nullptr;

  /// Whether positions are indices along the modes instead of token positions.
  bool by_modes() const { return fold && !latents; }
};

std::span<const AttentionType> attention_types(TokenLayout layout = TokenLayout::sequence);
std::vector<std::string> attention_names(TokenLayout layout);
/// By name, an earlier name or, in any case, code; nullptr for an unknown one.
const AttentionType* find_attention_type(std::string_view name, TokenLayout layout = TokenLayout::sequence);
/// A type of tensor_attention. Raises ValueError with the list of them for another name.
const AttentionType& attention_type(std::string_view name);

/// Projected length of linformer: its option, or a quarter of the longest sequence.
int64_t projected_length(const AttentionOptionValues& own, int64_t longest);
/// Levels of blocks with latents: m − 1 for a fold of m modes, 0 for types without latents.
int64_t latent_levels(const TensorAttentionOptions& options);

/// Query-key pairs of one head over a sequence of n tokens: attention weights that it computes, with the
/// latents of complete blocks among the queries. A pair costs a dot product of width d and one multiply-add
/// of width e after the softmax. Types axial and pooled count all cells of the fold; random and topk the
/// whole matrix; performer pairs of tokens and features. Raises ValueError for an unknown type.
double compared_pairs(const PairOptions& options, int64_t n);

}  // namespace modewise::ops
