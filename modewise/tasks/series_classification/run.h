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

inline constexpr int64_t kShownVariables = 6;  // drawn in the view of a sample

class SeriesClassificationRun final
    : public ClassificationRunOf<SeriesClassificationConfig, data::SeriesCollection,
                                 models::SeriesClassifier> {
 public:
  using ClassificationRunOf::ClassificationRunOf;

  ClassDescription about() const override;
  const ClassOptions& options() const override { return config.series; }

  void load_training_samples(bool with_test) override;
  /// All samples of a file are test samples, but for the run's own file of all samples.
  void load_samples_of(const std::string& path, bool with_test) override;
  std::string samples_text() const override;
  nlohmann::ordered_json describe() const override;
  void restore(const nlohmann::ordered_json& json, const std::string& file) override;

  void make_model(Purpose purpose) override;
  nn::ModelCost cost() const override;
  data::LabelledBatch gather(std::span<const int64_t> samples) const override;
  void augment(data::LabelledBatch& batch, int64_t number) const override;

  void finish(nlohmann::ordered_json& metrics) override;
  std::string choice_text() const override;

  SampleView sample_view(int64_t sample) const override;
  std::vector<Influence> influences(const models::ClassifierInput& input, const at::Tensor& whole,
                                    int64_t max_places) const override;

 private:
  /// Sets the scaling of an ensemble member to that of its training.
  void scale_for(int64_t member, const data::VariableScale& scale);

  data::TrainedSeries trained_;
  std::string trained_hash_;
};

}  // namespace modewise::tasks
