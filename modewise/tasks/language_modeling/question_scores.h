#pragma once
// A language model at downstream tasks (question_task.h): options compared by log-likelihood as lm-eval does,
// or answers written greedily and scored as LongBench does.

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/models/language_modeling/language_model.h"
#include "modewise/tasks/language_modeling/question_task.h"
#include "modewise/text/tokenizer.h"

namespace modewise::tasks {

struct ChoiceScore {
  std::vector<double> log_likelihoods;  // of each option behind its context
  int64_t chosen = 0;                   // the greatest
  int64_t chosen_normalized = 0;        // the greatest per character of the option
};

/// `length`: tokens at most; contexts lose their beginning beyond it. Of equal options the first counts.
ChoiceScore score_choice(models::LanguageModel& model, const text::Tokenizer& tokenizer,
                         const ChoiceItem& item, int64_t length);

/// A prompt of more than `length` tokens keeps its first and its last half (LongBench's middle truncation).
std::string truncate_middle(const text::Tokenizer& tokenizer, const std::string& prompt, int64_t length);

/// {"name", "kind", "questions", "accuracy" and "accuracy_normalized" with standard errors, or "metric" and
/// "score" as LongBench prints it (mean × 100), "answers": […]}. Throws train::EvaluationInterrupted on a
/// stop signal.
nlohmann::ordered_json score_questions(models::LanguageModel& model,
                                       std::shared_ptr<const text::Tokenizer> tokenizer,
                                       const QuestionSet& set, int64_t length);

}  // namespace modewise::tasks
