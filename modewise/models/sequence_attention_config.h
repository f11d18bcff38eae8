#pragma once
// Sequence attention options, shared by language models, text encoders and series classifiers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/nn/attention/sequence_attention.h"

namespace modewise::models {

/// Attention type and fold, common to encoders and language models.
struct FoldConfig {
  std::string type;            // attention type, one of the model's
  std::vector<int64_t> fold;   // n_1 … n_m, last fastest; n_1 = 0: grows; empty: from the length
  int64_t window = 0;          // sliding window in tokens; summary: 0 is 2·n_m
  int64_t summary_tokens = 1;  // summary: summary tokens per complete block, each with a latent query

  /// `forms`: the attention types that the config accepts; "tensor" is an alias of `tensor`.
  void fields(Fields& fields, const std::string& help, std::vector<std::string> forms, std::string tensor);
  /// Throws a config error for options that the type of ops::attention_types() does not use, and for
  /// inconsistent sizes.
  void validate(const std::string& source) const;

 protected:
  void check_sizes(const std::string& source) const;
  void check_window(const std::string& source) const;
  /// Throws a config error if a given option has no effect on the attention type.
  void refuse(bool given, std::string_view name, const std::string& source) const;
};

/// Attention of an encoder: any of nn::sequence_constructors().
struct SequenceAttentionConfig : FoldConfig {
  int64_t order = 0;               // axial: number of last modes attended along; 0: all of the fold
  double density = 0.1;            // random, topk, window: fraction of tokens attended
  ops::AttentionOptionValues own;  // of single types

  SequenceAttentionConfig() { type = "full"; }

  void fields(Fields& fields);
  /// Throws a config error for options without effect on the attention type, for inconsistent sizes, and for
  /// sizes that do not match `tokens`, the longest sequence.
  void validate(const std::string& source, int64_t tokens) const;
  /// Options of a layer of this width, with the fold resolved for sequences of up to `tokens` tokens.
  nn::SequenceAttentionOptions options(int64_t width, int64_t heads, int64_t tokens) const;
  /// A title for tables: "axial 32·32", "window 10 %", "linformer 64".
  std::string title() const;
};

}  // namespace modewise::models
