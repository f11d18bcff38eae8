#pragma once
// Scores of language models on downstream tasks (question_task.h): options compared by log-likelihood as in
// lm-eval, or greedily generated answers scored as in LongBench.

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
  std::vector<double> log_likelihoods;  // of each option given its context
  int64_t chosen = 0;                   // argmax
  int64_t chosen_normalized = 0;        // argmax per character of the option
};

/// Scores the options; contexts longer than `length` tokens are truncated at the beginning. The first of
/// equal options is chosen.
ChoiceScore score_choice(models::LanguageModel& model, const text::Tokenizer& tokenizer,
                         const ChoiceItem& item, int64_t length);

/// Middle truncation of LongBench: a prompt of more than `length` tokens keeps its first and last half.
std::string truncate_middle(const text::Tokenizer& tokenizer, const std::string& prompt, int64_t length);

/// {"name", "kind", "questions", "accuracy" and "accuracy_normalized" with standard errors, or "metric" and
/// "score" as in LongBench (mean × 100), "seconds", "answers": […]}. `end_ids` end an answer, as in
/// GenerationConfig. Throws train::EvaluationInterrupted on a stop signal.
nlohmann::ordered_json score_questions(models::LanguageModel& model,
                                       std::shared_ptr<const text::Tokenizer> tokenizer,
                                       const QuestionSet& set, int64_t length,
                                       const std::vector<int64_t>& end_ids = {});

}  // namespace modewise::tasks
