#pragma once
// Volume classification run. Besides the files of every classifier it can write the test scores in the format
// of MedMNIST's evaluator.

#include <memory>
#include <string>
#include <vector>

#include "modewise/data/volume_classification/volumes.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/volume_classification/config.h"

namespace modewise::tasks {

class VolumeClassificationRun final
    : public ClassificationRunOf<VolumeClassificationConfig, data::VolumeSet, models::VisionClassifier> {
 public:
  using ClassificationRunOf::ClassificationRunOf;

  ClassDescription about() const override;
  const ClassOptions& options() const override { return config.classify; }

  void load_training_samples(bool with_test) override;
  void load_samples_of(const std::string& path, bool with_test) override;
  std::string samples_text() const override;
  nlohmann::ordered_json describe() const override;
  void restore(const nlohmann::ordered_json& json, const std::string& file) override;

  void make_model(Purpose purpose) override;
  nn::ModelCost cost() const override;
  data::LabelledBatch gather(std::span<const int64_t> samples) const override;
  void augment(data::LabelledBatch& batch, int64_t number) const override;
  void prepare(data::LabelledBatch& batch) const override;
  int64_t views() const override { return int64_t{1} << config.classify.flips.size(); }
  data::LabelledBatch view(const data::LabelledBatch& batch, int64_t number) const override;

  void keep_scores(const metrics::ScoreTable& table, const metrics::ClassMetrics& metrics) const override;

  SampleView sample_view(int64_t sample) const override;
  std::vector<Influence> influences(const models::ClassifierInput& input, const at::Tensor& whole,
                                    int64_t max_places) const override;

 private:
  std::vector<std::string> trained_classes_;
  std::string trained_intensity_;  // "": unknown, of a run before it was recorded
  double trained_unit_ = 0;
  data::VoxelSizes trained_voxels_;
};

}  // namespace modewise::tasks
