#pragma once
// Language modelling run.
//
// Besides the trainer's files it has data.json (source, counts), tokenizer/ (a copy of its file) and model/
// (the best weights in Hugging Face format, with the tokenizer); metrics.json has "validation" and, if
// training reads the test split, "test".

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "modewise/models/language_modeling/language_model.h"
#include "modewise/tasks/language_modeling/data.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

class LanguageModelingRun final : public Run {
 public:
  explicit LanguageModelingRun(LanguageModelingConfig given) : config(std::move(given)) {}

  RunSettings settings() override {
    RunSettings settings = settings_of(config);
    settings.rankless = "language_modeling";
    return settings;
  }
  void load(const DataRequest& request) override;
  std::string hash() const override { return data.hash; }
  nlohmann::ordered_json describe() const override;
  void restore(const nlohmann::ordered_json& json, const std::string& file) override;
  void announce() override;

  void make_model(Purpose purpose) override;
  torch::nn::Module& module() const override { return *model; }
  nn::ModelCost cost() const override;
  std::unique_ptr<train::ModuleTask> task() override;
  void keep() const override;

  nlohmann::ordered_json evaluate(const std::string& split, bool keep, train::Workers& workers) override;
  void finish(nlohmann::ordered_json& metrics) override;
  std::vector<ResultTable> tables(const nlohmann::ordered_json& metrics) const override;
  report::HtmlPage page(const nlohmann::ordered_json& metrics) override;

  /// Metrics of a split of the loaded samples: TokenScores or RecallScores. Data error for an empty split.
  nlohmann::ordered_json scores(const std::string& split) const;
  /// "test" (of the validation text if there is no test text), and "lengths" if requested.
  nlohmann::ordered_json test_scores();

  LanguageModelingConfig config;
  LanguageData data;  // of an opened run before load: only its tokenizer
  std::shared_ptr<models::LanguageModel> model;

 private:
  /// The split that is evaluated after training: "test", or "validation" without `test` or a test text.
  std::string last_split(bool test) const;
  /// Data error if no document of that split is long enough for language.lengths.
  void require_documents_of_lengths() const;
  /// Metrics of a split at each length for each variant: {variant: {length: metrics}}.
  nlohmann::ordered_json scores_by_length(const std::string& split);
};

}  // namespace modewise::tasks
