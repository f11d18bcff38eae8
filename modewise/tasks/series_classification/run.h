#pragma once
// Series classification run. metrics.json also has "protocol".

#include <memory>
#include <string>
#include <vector>

#include "modewise/data/series_classification/series_collection.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/series_classification/config.h"

namespace modewise::tasks {

class SeriesClassificationRun final
    : public ClassificationRunOf<SeriesClassificationConfig, data::SeriesCollection,
                                 models::SeriesClassifier> {
 public:
  const char* task() const override { return "series_classification"; }
  const char* subject() const override { return "series"; }
  const ClassOptions& options() const override { return config.series; }
  void require_data() const override;

  void load_samples(bool with_test) override;
  /// All samples of one .ts file are test samples.
  void load_samples_of(const std::string& path, bool with_test) override;
  std::string samples_text() const override;
  std::string protocol() const override { return config.data.protocol; }
  std::string asked_split(const std::string& /*path*/) const override { return "test"; }
  nlohmann::ordered_json describe() const override;
  void read_description(const nlohmann::ordered_json& json, const std::string& file) override;

  void make_model(bool to_train) override;
  analysis::ModelCost cost() const override;
  data::LabelledBatch gather(std::span<const int64_t> samples) const override;
  void augment(data::LabelledBatch& batch, int64_t number) const override;

  std::unique_ptr<ClassificationRun> create() const override {
    return std::make_unique<SeriesClassificationRun>();
  }

  std::vector<std::string> figures() const override { return {"accuracy", "loss"}; }
  void add_metrics(nlohmann::ordered_json& metrics) const override;
  std::string choice_text() const override;

  SampleView sample_view(int64_t sample) const override;
  std::string figure_text() const override;
  std::vector<std::string> mode_names() const override { return {"patch"}; }
  std::vector<Influence> influences(const models::ClassifierInput& input, const at::Tensor& whole,
                                    int64_t max_places) const override;
  std::string removal_text() const override {
    return "its values become the mean of the variable over the sample";
  }

 private:
  /// Sets the scaling of an ensemble member to that of its training.
  void scale_for(int64_t member, const data::VariableScale& scale);

  data::TrainedSeries trained_;
};

}  // namespace modewise::tasks
