#pragma once
// Passkey retrieval: a number inserted at some depth of a long filler text is queried at its end.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/models/language_modeling/language_model.h"
#include "modewise/text/tokenizer.h"

namespace modewise::tasks {

struct PasskeyOptions {
  std::vector<int64_t> lengths;                          // tokens of the prompt
  std::vector<double> depths = {0, 0.25, 0.5, 0.75, 1};  // 0: at the beginning
  int64_t trials = 4;                                    // trials for each length and depth
  int64_t digits = 5;
  uint64_t seed = 0;
  std::vector<int64_t> end_ids = {};  // as in GenerationConfig
};

struct PasskeyPrompt {
  std::vector<text::Tokenizer::Id> tokens;  // exactly `length` of them
  std::string number;
};

/// Makes a prompt, deterministic in its arguments. Data error if the length is too short for the fixed
/// sentences.
PasskeyPrompt make_passkey_prompt(const text::Tokenizer& tokenizer, const PasskeyOptions& options,
                                  int64_t length, double depth, int64_t trial);

/// Training text: a prompt with its answer, of at most `length` bytes, the number at a random depth.
/// Deterministic in its arguments. Data error as above.
std::string passkey_text(int64_t length, uint64_t seed, uint64_t index);

/// Evaluates one length with greedy decoding: for each depth {"length", "depth", "exact" (fraction of trials
/// with the exact number), "digits" (fraction of correct leading digits), "seconds" per trial}. Throws
/// train::EvaluationInterrupted on a stop signal.
nlohmann::ordered_json measure_passkeys(models::LanguageModel& model, const text::Tokenizer& tokenizer,
                                        const PasskeyOptions& options, int64_t length);

}  // namespace modewise::tasks
