#pragma once
// The options of a token encoder: the stack of blocks that forecasters, volume classifiers and segmenters
// share.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::models {

struct PositionConfig {
  std::string code = "none";          // none | learned | sincos, over the modes with an order
  bool identity = true;               // a learned code for each place of the modes without order
  std::string rotary = "ordered";     // ordered (all modes with an order) | time (the last of them) | none
  std::vector<int64_t> rotary_modes;  // token modes with rotary codes; empty is what `rotary` says
  double rotary_base = 10000;
  void fields(Fields& fields);
};

struct AttentionConfig {
  std::string form = "model";           // the model's own, or one of nn/attention_zoo.h in its place
  std::string combine = "product";      // product | sum | mean
  bool normalize_sum = false;           // combine = sum divides by the number of factors, as mean does
  std::string pooling = "sum";          // sum | mean
  bool share_modes = false;             // one query/key projection for all modes
  std::vector<int64_t> attend_modes;    // token modes, time last; empty is all
  bool query_key_norm = true;           // LayerNorm of width d on pooled queries and keys
  std::string kernel = "softmax";       // softmax | linear | none (blocks without attention)
  int64_t features = 0;                 // of the linear kernel; 0: d·⌈log d⌉
  std::string feature_map = "softmax";  // of the linear kernel: softmax | regularised
  std::string feature_draw = "seed";    // of the linear kernel: seed (another draw a seed) | fixed
  int64_t features_redraw_every = 0;    // batches from one draw to the next; 0: never
  double dropout = 0;                   // on the factors
  void fields(Fields& fields);
  bool from_registry() const { return form != "model"; }
  /// How the factors meet: product, sum or mean, with `normalize_sum` taken into account.
  std::string combined() const { return combine == "sum" && normalize_sum ? "mean" : combine; }
};

struct EncoderConfig {
  int64_t width = 64;    // D
  int64_t hidden = 128;  // of the feed-forward
  int64_t blocks = 2;
  int64_t heads = 4;
  std::string feed_forward = "swiglu";  // swiglu | gelu | none
  double dropout = 0.1;                 // of attention and feed-forward outputs
  double layer_scale = 0;               // start of a learned scale a channel on each branch; 0 is none
  PositionConfig position;
  AttentionConfig attention;

  /// The fields that are not in a group of their own; `position` and `attention` are for the caller to place.
  void block_fields(Fields& fields);
  /// Sets what all models of the released HOT code have (`release`), or those of its paper.
  void use_published_blocks(bool release);
};

/// The sizes of the token tensor [B, N_1 … N_k, D] that a config is to fit.
struct TokenShape {
  std::vector<int64_t> sizes;          // N_1 … N_k
  std::vector<int64_t> ordered_modes;  // modes whose neighbouring places are near each other, ascending

  int64_t modes() const { return static_cast<int64_t>(sizes.size()); }
};

/// Throws a config error for values that do not fit together or do not fit the tokens; `source` opens it.
void validate_encoder(const EncoderConfig& config, const TokenShape& tokens, const std::string& source);

}  // namespace modewise::models
