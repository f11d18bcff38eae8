#pragma once
// The options of an encoder of text: BERT's and RoBERTa's architecture (learned positions, token types, norms
// behind the branches, exact GELU) with any bidirectional form of attention.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/sequence_attention_config.h"

namespace modewise::models {

struct TextModelConfig {
  std::string from;           // a folder in Hugging Face's layout to start from; "": from scratch
  std::string kind = "bert";  // bert | roberta: how positions are counted and what the heads are
  int64_t vocabulary = 30522;
  int64_t width = 128;  // D
  int64_t hidden = 0;   // of the feed-forward; 0: 4·D
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t positions = 512;         // tokens of the longest text
  int64_t types = 0;               // kinds of token (first text, second text); 0: bert 2, roberta 1
  int64_t padding_id = -1;         // roberta counts positions over all other tokens; -1: bert 0, roberta 1
  double dropout = 0.1;            // of the embeddings and of what attention and feed-forward add
  double attention_dropout = 0.1;  // of the attention's weights
  double head_dropout = -1;        // before the classes; -1: as `dropout`
  double norm_epsilon = 0;         // 0: bert 1e-12, roberta 1e-5
  double stddev = 0.02;         // of the first weights, which are normal
  std::string first_positions = "normal";  // normal | sinusoid: where the codes of the positions begin
  std::string precision = "float32";
  SequenceAttentionConfig attention;

  void fields(Fields& fields);
  /// Throws a config error that names the option where values do not fit together; `source` opens it.
  void validate(const std::string& source) const;
  /// The same config with the values that mean "choose" replaced by what they mean.
  TextModelConfig resolved() const;
  /// Rows of the table of positions: RoBERTa's has padding_id + 1 before the first. Of a resolved config.
  int64_t position_rows() const;
  nn::SequenceAttentionOptions attention_options() const;  // of a resolved config
};

}  // namespace modewise::models
