#pragma once
// Passkey retrieval: a number hidden at some depth of a long, dull text is asked for at its end.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/models/language_modeling/language_model.h"
#include "modewise/text/tokenizer.h"

namespace modewise::tasks {

struct PasskeyOptions {
  std::vector<int64_t> lengths;                          // tokens of the prompt
  std::vector<double> depths = {0, 0.25, 0.5, 0.75, 1};  // 0: the number stands at the beginning
  int64_t trials = 4;                                    // numbers for each cell
  int64_t digits = 5;
  uint64_t seed = 0;
};

struct PasskeyPrompt {
  std::vector<text::Tokenizer::Id> tokens;  // exactly `length` of them
  std::string number;
};

/// A function of its arguments. Data error when the length does not hold the sentences around the text.
PasskeyPrompt make_passkey_prompt(const text::Tokenizer& tokenizer, const PasskeyOptions& options,
                                  int64_t length, double depth, int64_t trial);

/// A text to learn it from: a prompt and its answer, of at most `length` bytes, the number anywhere. A
/// function of its arguments. Data error as above.
std::string passkey_text(int64_t length, uint64_t seed, uint64_t index);

/// One length with a model, greedily: for each depth {"length", "depth", "exact" (share of the trials in
/// which the whole number was written), "digits" (share of its first digits that were right), "seconds" a
/// trial}. Throws train::EvaluationInterrupted on a stop signal.
nlohmann::ordered_json measure_passkeys(models::LanguageModel& model, const text::Tokenizer& tokenizer,
                                        const PasskeyOptions& options, int64_t length);

}  // namespace modewise::tasks
