#pragma once
// How the tokens of a sequence attend: what the configs of language models and of encoders of series and
// texts have in common.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/nn/attention/sequence_attention.h"

namespace modewise::models {

/// Form and fold, which language models have too.
struct FoldConfig {
  std::string form;           // one of those that the model has
  std::vector<int64_t> fold;  // n_1 … n_m, the last fastest; n_1 = 0 grows; empty: chosen for the length
  int64_t window = 0;         // tokens seen one by one; causal: 0 is 2·n_m
  int64_t slots = 1;          // causal: summaries a finished block, each with a latent query

  /// `forms`: those that the model has, by the names that its config may say; "tensor" stands for `tensor`.
  void fields(Fields& fields, const std::string& help, std::vector<std::string> forms, std::string tensor);
  /// Throws a config error for options without effect on one of ops::attention_types(), and for sizes that
  /// do not fit together.
  void validate(const std::string& source) const;

 protected:
  void check_sizes(const std::string& source) const;
  void check_window(const std::string& source) const;
  /// Throws a config error where an option that has no effect on the form was given.
  void refuse(bool given, const char* name, const std::string& source) const;
};

/// Attention of an encoder, any of nn::sequence_attention_entries().
struct SequenceAttentionConfig : FoldConfig {
  int64_t order = 0;       // axial: modes attended along, the last ones; 0: all of the fold
  double density = 0.1;    // random, topk, window: share of the tokens seen
  int64_t projected = 0;   // linformer; 0: a quarter of the tokens
  int64_t landmarks = 64;  // nystroemformer
  int64_t kernel = 33;     // nystroemformer
  int64_t features = 0;    // performer; 0: d⌈ln d⌉
  int64_t chunk = 64;      // reformer
  int64_t rounds = 4;      // reformer

  SequenceAttentionConfig() { form = "full"; }

  void fields(Fields& fields);
  /// Throws a config error for options without effect on the form, for sizes that do not fit together, and
  /// for those that do not fit `tokens`, the longest sequence.
  void validate(const std::string& source, int64_t tokens) const;
  /// What a layer of that width is made from, the fold as it acts on sequences of up to `tokens` tokens.
  nn::SequenceAttentionOptions options(int64_t width, int64_t heads, int64_t tokens) const;
  /// For titles: "axial 32·32", "window 10 %", "linformer 64".
  std::string title() const;
};

}  // namespace modewise::models
