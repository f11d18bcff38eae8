#pragma once
// How the tokens of a sequence attend (ops/tensor_attention.h): what the configs of language models and of
// classifiers of series have in common.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::models {

struct SequenceAttentionConfig {
  std::string form;           // one of ops::attention_forms() that the model has
  std::vector<int64_t> fold;  // n_1 … n_m, the last fastest; n_1 = 0 grows; empty: chosen for the length
  int64_t window = 0;         // tokens seen one by one; causal: 0 is 2·n_m
  int64_t slots = 1;          // causal: summaries a finished block, each with a latent query

  /// `forms`: those that the model has, by the names that its config may say; "tensor" stands for causal.
  void fields(Fields& fields, const std::string& help, std::vector<std::string> forms);
  /// Throws a config error for options without effect on the form, and for sizes that do not fit together.
  void validate(const std::string& source) const;
};

}  // namespace modewise::models
