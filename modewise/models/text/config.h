#pragma once
// Options of text encoders: the architecture of BERT and RoBERTa (learned position embeddings, token types,
// post-norm, exact GELU) with any bidirectional attention type.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/sequence_attention_config.h"

namespace modewise::models {

struct TextModelConfig {
  std::string from;           // pretrained model folder (Hugging Face layout) to start from; "": from scratch
  std::string kind = "bert";  // bert | roberta: position numbering and heads
  int64_t vocabulary = 30522;
  int64_t width = 128;  // D
  int64_t hidden = 0;   // feed-forward width; 0: 4·D
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t positions = 512;  // maximum text length in tokens
  int64_t types = 0;        // token types (first text, second text); 0: bert 2, roberta 1
  int64_t padding_id = -1;  // padding token id; roberta numbers non-padding tokens; -1: bert 0, roberta 1
  double dropout = 0.1;     // of embeddings, attention and feed-forward outputs
  double attention_dropout = 0.1;          // of the attention weights
  double head_dropout = -1;                // before the output layer; -1: as `dropout`
  double norm_epsilon = 0;                 // 0: bert 1e-12, roberta 1e-5
  double stddev = 0.02;                    // standard deviation of the initial weights (normal)
  std::string first_positions = "normal";  // normal | sinusoid: initial position embeddings
  std::string precision = "float32";
  SequenceAttentionConfig attention;

  void fields(Fields& fields);
  /// Throws a config error that names the option for inconsistent values; `source` starts it.
  void validate(const std::string& source) const;
  /// The config with automatic values replaced by the actual ones.
  TextModelConfig resolved() const;
  /// Rows of the position embedding table: RoBERTa has padding_id + 1 rows before the first position. For a
  /// resolved config.
  int64_t position_rows() const;
  nn::SequenceAttentionOptions attention_options() const;  // of a resolved config
};

}  // namespace modewise::models
