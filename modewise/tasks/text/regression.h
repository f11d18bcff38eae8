#pragma once
// Text regression: numbers for texts or pairs, with squared error, Pearson and Spearman correlation.

#include "modewise/tasks/text/objective_run.h"

namespace modewise::tasks {

class RegressionRun final : public ObjectiveRun {
 public:
  using ObjectiveRun::ObjectiveRun;

  void load_data(const std::string& path, bool with_test) override;
  std::string hash() const override { return hash_of(set_); }
  nlohmann::ordered_json describe() const override;
  void read_description(const nlohmann::ordered_json& json) override {
    trained_on_pairs_ = json.at("pairs").get<bool>();
  }
  std::vector<std::string> notes() const override { return set_.notes; }
  std::string data_text(bool with_test) const override;
  analysis::ModelCost cost() const override;

  void make_model(bool started) override;
  torch::nn::Module& module() const override { return *model_; }
  void save(const std::filesystem::path& folder) const override;
  std::unique_ptr<train::ModuleTask> make_task() override;

  nlohmann::ordered_json evaluate(const std::string& split) const override;
  std::vector<JsonColumn> columns() const override;
  std::vector<LearningChart> charts() const override;
  void add_sections(report::HtmlPage& page, const std::string& split) const override;
  Result predict(const PredictRequest& request) override;
  std::vector<std::pair<std::string, text::FramedText>> shown_texts(const std::string& split,
                                                                    int64_t count) const override;
  models::AttentionView attention(const models::TextInput& input) const override {
    return model_->attention(input);
  }

  /// Predicted numbers of samples. Throws train::EvaluationInterrupted on a stop signal.
  std::vector<double> predicted(std::span<const int64_t> samples) const;
  const data::TextSet& set() const { return set_; }
  models::TextClassifier& model() const { return *model_; }

 private:
  data::TextSet set_;
  bool trained_on_pairs_ = false;
  std::shared_ptr<models::TextClassifier> model_;
};

/// Metrics of regression; `loss` is the mean squared error.
struct NumberFigures {
  double pearson = 0, spearman = 0, loss = 0;
};
NumberFigures number_figures(std::span<const double> predicted, std::span<const double> targets);

}  // namespace modewise::tasks
