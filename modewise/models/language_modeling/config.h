#pragma once
// The options of a language model: Llama's and Mistral's architecture (RMSNorm, SwiGLU, grouped queries,
// rotary codes) with any causal form of attention.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/sequence_attention_config.h"
#include "modewise/nn/embedding/rotary_scaling.h"
#include "modewise/ops/attention/tensor_attention.h"

namespace modewise::models {

struct RopeConfig {
  nn::RotaryScaling scaling;
  int64_t scaled_level = -1;  // the level of positions that is scaled; −1: all
  /// yarn, llama3: lengths are counted in each level's own positions; false: in tokens at every level, as
  /// files without this key mean it.
  bool level_lengths = true;
  void fields(Fields& fields);
  /// Throws a config error for a scaling by the factor 1, and for a factor or level without a scaling: they
  /// change nothing. Values that are those of `before` pass: files hold them.
  void require_effect(const RopeConfig& before, const std::string& source) const;
};

struct LanguageAttentionConfig : FoldConfig {
  LanguageAttentionConfig() { form = "summary"; }  // summary | full | window | lambda | axial | random | topk

  double latent_stddev = 0.02;  // of the latents' first values
  int64_t sinks = 0;               // lambda: first tokens that stay visible
  double density = 0.1;            // random, topk: share of the earlier tokens that a token sees
  void fields(Fields& fields);
};

struct LanguageModelConfig {
  int64_t vocabulary = 256;
  int64_t width = 128;  // D
  int64_t hidden = 0;   // of the feed-forward; 0: 8/3 of the width, up to a multiple of 32
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t kv_heads = 0;    // key and value heads, divide `heads`; 0: as many
  int64_t head_width = 0;  // 0: width / heads
  double norm_epsilon = 1e-5;
  bool tied = true;                   // one matrix embeds tokens and reads them out
  int64_t context = 512;              // length of the texts trained on
  double stddev = 0;               // of the first weights; 0: 1/√width
  double dropout = 0;                 // of what attention and feed-forward add
  std::string precision = "float32";  // float32 | bf16
  bool recompute = false;  // keep one activation a layer and compute the rest again in the backward
  RopeConfig rope;
  LanguageAttentionConfig attention;

  void fields(Fields& fields);
  /// Throws a config error that names the option where values do not fit together; `source` opens it.
  void validate(const std::string& source) const;
  /// The same config with the zeros that mean "choose" replaced by what they mean.
  LanguageModelConfig resolved() const;

  ops::TensorAttentionOptions attention_options() const;  // of a resolved config
  ops::RotaryEmbedding rotary_embedding() const;                    // of a resolved config
  /// The scaling of the positions of a level: 0 tokens (or cells of the last mode), l blocks of level l.
  nn::RotaryScaling level_scaling(int64_t level) const;
  /// Parameters of the model, counted by formula.
  int64_t parameters() const;
};

}  // namespace modewise::models
