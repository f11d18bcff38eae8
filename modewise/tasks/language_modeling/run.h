#pragma once
// A language model's run from its config to its folder, and back from its folder to a model.
//
// Besides the trainer's files a run keeps data.json (source, counts), tokenizer/ (a copy of its file) and
// model/ (the best weights as Hugging Face's files, with the tokenizer beside them); metrics.json gains
// "validation" and, where training reads it, "test".

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "modewise/models/language_modeling/language_model.h"
#include "modewise/tasks/language_modeling/data.h"
#include "modewise/tasks/open_run.h"
#include "modewise/tasks/trained_run.h"

namespace modewise::tasks {

/// data.json of its runs.
nlohmann::ordered_json describe(const LanguageModelingConfig& config, const LanguageData& data);

/// Trains, evaluates on the validation and test text, exports the model, and writes all of it. With `resume`
/// the run goes on where it was. Throws train::EvaluationInterrupted when a signal came after the training.
TrainedRun train_language_model(const LanguageModelingConfig& config, const LanguageData& data, train::RunFolder& run,
                                bool resume, bool accept_changes = false);

/// A run's model with its best weights.
struct LanguageModelingRun : OpenRun<LanguageModelingConfig, models::LanguageModel> {
  std::shared_ptr<text::Tokenizer> tokenizer = nullptr;  // of the run's folder; null for recall
};
/// Errors as open_run.
LanguageModelingRun open_language_run(const std::filesystem::path& path);

/// Judges a run on the test text that its training left unread, and writes what training would have:
/// metrics.json's "test" and "lengths". Returns these.
nlohmann::ordered_json evaluate_left_out_test(const train::RunFolder& run, models::LanguageModel& model,
                                           LanguageModelingConfig config, std::shared_ptr<text::Tokenizer> tokenizer);

/// The metrics of a part ("validation", "test"): TokenScores, or RecallScores.
nlohmann::ordered_json score_part(models::LanguageModel& model, const LanguageModelingConfig& config,
                                  const LanguageData& data, const std::string& part);

}  // namespace modewise::tasks
