#pragma once
// Options of language models: the architecture of Llama and Mistral (RMSNorm, SwiGLU, grouped-query
// attention, rotary embedding) with any causal attention type.

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
  int64_t scaled_level = -1;  // the scaled level of positions; −1: all
  /// yarn, llama3: count lengths in each level's own positions; false: in tokens at every level, as for files
  /// without this key.
  bool level_lengths = true;
  void fields(Fields& fields);
  /// Throws a config error for scaling by factor 1, and for a factor or level without scaling, which have no
  /// effect. Values equal to `before` (read from a file) are accepted.
  void require_effect(const RopeConfig& before, const std::string& source) const;
};

struct LanguageAttentionConfig : FoldConfig {
  LanguageAttentionConfig() { type = "summary"; }  // summary | full | window | lambda | axial | random | topk

  double latent_stddev = 0.02;  // standard deviation of the initial latents
  int64_t sinks = 0;            // lambda: attention sinks, the first tokens
  double density = 0.1;         // random, topk: fraction of the earlier tokens attended to
  void fields(Fields& fields);
};

struct LanguageModelConfig {
  int64_t vocabulary = 256;
  int64_t width = 128;  // D
  int64_t hidden = 0;   // feed-forward width; 0: 8/3 of the width, rounded up to a multiple of 32
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t kv_heads = 0;    // key and value heads, divide `heads`; 0: equal to `heads`
  int64_t head_width = 0;  // 0: width / heads
  double norm_epsilon = 1e-5;
  bool tied = true;                   // tied input and output embeddings
  int64_t context = 512;              // trained context length in tokens
  double stddev = 0;                  // standard deviation of the initial weights; 0: 1/√width
  double dropout = 0;                 // of attention and feed-forward outputs
  std::string precision = "float32";  // float32 | bf16
  bool recompute = false;             // activation checkpointing: keep one activation per layer
  RopeConfig rope;
  LanguageAttentionConfig attention;

  void fields(Fields& fields);
  /// Throws a config error that names the option for inconsistent values; `source` starts it.
  void validate(const std::string& source) const;
  /// The config with automatic values (zeros) replaced by the actual ones.
  LanguageModelConfig resolved() const;

  ops::TensorAttentionOptions attention_options() const;  // of a resolved config
  ops::RotaryEmbedding rotary_embedding() const;          // of a resolved config
  /// Rotary scaling of one level of positions: 0 tokens (or cells of the last mode), l blocks of level l.
  nn::RotaryScaling level_scaling(int64_t level) const;
  /// Number of parameters, by formula.
  int64_t parameters() const;
};

}  // namespace modewise::models
