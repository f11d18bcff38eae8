#pragma once
// Language modelling run: training to a run folder, and opening of a run folder.
//
// Besides the trainer's files it has data.json (source, counts), tokenizer/ (a copy of its file) and model/
// (the best weights in Hugging Face format, with the tokenizer); metrics.json has "validation" and, if
// training reads the test split, "test".

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "modewise/models/language_modeling/language_model.h"
#include "modewise/tasks/language_modeling/data.h"
#include "modewise/tasks/open_run.h"
#include "modewise/tasks/trained_run.h"

namespace modewise::tasks {

/// Contents of data.json.
nlohmann::ordered_json describe(const LanguageModelingConfig& config, const LanguageData& data);

/// Trains, evaluates the validation and test text, exports the model, and writes the results. With `resume`
/// the run continues. Throws train::EvaluationInterrupted if a signal arrives after training.
TrainedRun train_language_model(const LanguageModelingConfig& config, const LanguageData& data,
                                train::RunFolder& run, bool resume, bool accept_changes = false);

/// A run with the best weights of its model.
struct LanguageModelingRun : OpenRun<LanguageModelingConfig, models::LanguageModel> {
  std::shared_ptr<text::Tokenizer> tokenizer = nullptr;  // from the run folder; null for recall
};
/// Errors as open_run.
LanguageModelingRun open_language_run(const std::filesystem::path& path);

/// Evaluates the unread test text of a run, writes "test" and "lengths" of metrics.json like training, and
/// returns them.
nlohmann::ordered_json evaluate_left_out_test(const train::RunFolder& run, models::LanguageModel& model,
                                              LanguageModelingConfig config,
                                              std::shared_ptr<text::Tokenizer> tokenizer);

/// Metrics of a split ("validation", "test"): TokenScores or RecallScores.
nlohmann::ordered_json score_part(models::LanguageModel& model, const LanguageModelingConfig& config,
                                  const LanguageData& data, const std::string& part);

}  // namespace modewise::tasks
