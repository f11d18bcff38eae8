#pragma once
// What a language model's run learns from and is judged by: windows of packed text, or recall samples.

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

  /// The tokens around documents that the config wants and the tokenizer has; one where both are the same.
  std::optional<int32_t> begin, end;
  data::TokenStream stream(const std::string& part) const { return {set.part(part), begin, end}; }
};

/// The tokenizer that `config` means: the named one, or that of its init, or of its token file, or bytes.
std::shared_ptr<text::Tokenizer> tokenizer_of(const LanguageModelingConfig& config);

/// Loads what `config` names, the test part where config.train.test says so; sets the model's vocabulary to
/// the tokenizer's where the model is new. Data error when the tokenizer has more tokens than init's model,
/// or when a part is too short for a window.
LanguageData load_language_data(LanguageModelingConfig& config, std::shared_ptr<text::Tokenizer> tokenizer);

/// The marks around documents: {begin, end}.
std::pair<std::optional<int32_t>, std::optional<int32_t>> document_tokens(const data::TextConfig& config,
                                                                         const text::Tokenizer& tokenizer);

/// Recall samples of "train" (numbered from 0), "validation" or "test"; functions of the config and the seed.
data::RecallSample recall_sample(const LanguageModelingConfig& config, const std::string& part, int64_t index);

}  // namespace modewise::tasks
