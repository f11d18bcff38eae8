#pragma once
// Data of language modelling runs: windows of packed text, or recall samples.

#include <memory>
#include <string>

#include "modewise/data/language_modeling/key_value_recall.h"
#include "modewise/data/token_set.h"
#include "modewise/data/token_windows.h"
#include "modewise/tasks/language_modeling/config.h"

namespace modewise::tasks {

struct LanguageData {
  std::shared_ptr<text::Tokenizer> tokenizer;  // null for recall
  data::TokenSet set;                          // empty for recall
  std::string hash;

  /// Begin and end tokens around documents, if the config enables them and the tokenizer has them; only one
  /// if both are equal.
  std::optional<int32_t> begin, end;
  bool is_recall() const { return tokenizer == nullptr; }
  data::TokenStream stream(const std::string& part) const { return {set.part(part), begin, end}; }
};

/// The tokenizer of `config`: the configured one, or that of init, or of the token file, or bytes.
std::shared_ptr<text::Tokenizer> tokenizer_of(const LanguageModelingConfig& config);

/// Loads the data of `config`, the test split only with config.train.test; sets the vocabulary size of a new
/// model. Data error if the tokenizer has more tokens than init's model, or if a split is too short for a
/// window.
LanguageData load_language_data(LanguageModelingConfig& config, std::shared_ptr<text::Tokenizer> tokenizer);

/// Special tokens around documents: {begin, end}.
std::pair<std::optional<int32_t>, std::optional<int32_t>> document_tokens(const data::TextConfig& config,
                                                                          const text::Tokenizer& tokenizer);

/// Recall sample `index` of "train", "validation" or "test", deterministic in config and seed.
data::RecallSample recall_sample(const LanguageModelingConfig& config, const std::string& part,
                                 int64_t index);

}  // namespace modewise::tasks
