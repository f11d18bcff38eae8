#pragma once
// Options of the token encoder: the stack of transformer blocks shared by forecasters, vision classifiers and
// segmenters.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::models {

struct PositionConfig {
  std::string code = "none";          // none | learned | sincos: position encoding of ordered modes
  bool identity = true;               // learned mode embeddings of the modes without order
  std::string rotary = "ordered";     // ordered (all modes with an order) | time (the last of them) | none
  std::vector<int64_t> rotary_modes;  // token modes with rotary embedding; empty: as `rotary`
  double rotary_base = 10000;
  void fields(Fields& fields);
};

struct AttentionConfig {
  std::string type = "model";           // the model's own, or a type of nn/attention/grid_attention.h
  std::string combine = "product";      // product | sum | mean
  bool normalize_sum = false;           // sum divided by the number of factors, as combine = mean
  std::string pooling = "sum";          // sum | mean
  bool share_modes = false;             // one query/key projection for all modes
  std::vector<int64_t> attend_modes;    // attended token modes, time last; empty: all
  std::vector<std::string> mode_masks;  // of each token mode: none, causal, band:W; empty: no masks
  bool query_key_norm = true;           // LayerNorm of width d on pooled queries and keys
  std::string kernel = "softmax";       // softmax | linear | none (blocks without attention)
  int64_t features = 0;                 // of the linear kernel; 0: d·⌈log d⌉
  std::string feature_map = "softmax";  // of the linear kernel: softmax | regularised
  std::string feature_draw = "seed";    // of the linear kernel: seed (another draw a seed) | fixed
  int64_t features_redraw_every = 0;    // batches between redraws; 0: never
  double dropout = 0;                   // of the attention weights
  void fields(Fields& fields);
  bool from_registry() const { return type != "model"; }
  /// The effective combination of the factors: product, sum or mean, including `normalize_sum`.
  std::string combined() const { return combine == "sum" && normalize_sum ? "mean" : combine; }
};

struct EncoderConfig {
  int64_t width = 64;    // D
  int64_t hidden = 128;  // of the feed-forward
  int64_t blocks = 2;
  int64_t heads = 4;
  std::string feed_forward = "swiglu";  // swiglu | gelu | none
  double dropout = 0.1;                 // of attention and feed-forward outputs
  double layer_scale = 0;               // initial LayerScale of each residual branch; 0: none
  PositionConfig position;
  AttentionConfig attention;

  /// Adds the ungrouped fields; the caller adds the groups `position` and `attention`.
  void block_fields(Fields& fields);
  /// Sets the block options of the released HOT code (`release`), or of its paper.
  void use_published_blocks(bool release);
};

/// Sizes of the token tensor [B, N_1 … N_k, D].
struct TokenShape {
  std::vector<int64_t> sizes;          // N_1 … N_k
  std::vector<int64_t> ordered_modes;  // modes with a meaningful order (time, space), ascending

  int64_t modes() const { return static_cast<int64_t>(sizes.size()); }
};

/// Throws a config error for inconsistent values or values that do not match the tokens; `source` starts it.
void validate_encoder(const EncoderConfig& config, const TokenShape& tokens, const std::string& source);

}  // namespace modewise::models
