#pragma once
// Text regression: numbers for texts or pairs, with squared error, Pearson and Spearman correlation.

#include <optional>

#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/text/objective_run.h"

namespace modewise::tasks {

/// Targets are standardized by those of the training texts; {0, 1}: they are not, as in runs of earlier
/// versions.
struct TargetScale {
  double mean = 0, std = 1;

  double standardized(double target) const { return (target - mean) / std; }
  double restored(double number) const { return mean + std * number; }
};

class RegressionRun final : public ObjectiveRun {
 public:
  using ObjectiveRun::ObjectiveRun;

  ObjectiveDescription about() const override;
  void load_data(const std::string& path, bool with_test) override;
  std::string hash() const override { return hash_of(set_); }
  nlohmann::ordered_json describe_data() const override;
  void restore(const nlohmann::ordered_json& data, const std::string& file) override;
  void log_data_notes() const override;
  std::string data_text(bool with_test) const override;

  void make_model(Purpose purpose) override;
  torch::nn::Module& module() const override { return *model_; }
  nn::ModelCost cost() const override;
  std::unique_ptr<train::ModuleTask> task() override;
  void save(const std::filesystem::path& folder) const override;

  nlohmann::ordered_json score(const std::string& split) const override;
  void finish(nlohmann::ordered_json& metrics) override;
  void add_sections(report::HtmlPage& page, const std::string& split) const override;
  Result predict(const PredictRequest& request) override;
  NamedTexts shown_texts(const std::string& split, int64_t count) const override {
    return reading.spread(set_, split, count);
  }
  models::AttentionView attention(const models::TextInput& input) const override {
    return attention_of(*model_, input);
  }
  at::Tensor prediction(const models::TextInput& input) const override {
    return output_of(*model_, input) * scale().std + scale().mean;
  }

  /// Predicted numbers of samples, in units. Throws train::EvaluationInterrupted on a stop signal.
  std::vector<double> predicted(std::span<const int64_t> samples) const;
  const data::TextSet& set() const { return set_; }
  models::TextClassifier& model() const { return *model_; }
  const TargetScale& scale() const { return *scale_; }

 private:
  std::optional<TargetScale> scale_;  // from the training data, or from the run
  data::TextSet set_;
  bool trained_on_pairs_ = false, labelled_ = true;
  std::string trained_hash_;
  std::shared_ptr<models::TextClassifier> model_;
};

}  // namespace modewise::tasks
