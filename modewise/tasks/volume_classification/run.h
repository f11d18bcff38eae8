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
  const char* task() const override { return "volume_classification"; }
  const char* subject() const override { return "volumes"; }
  const ClassOptions& options() const override { return config.classify; }
  void require_data() const override;

  void load_samples(bool with_test) override;
  void load_samples_of(const std::string& path, bool with_test) override;
  std::string samples_text() const override;
  nlohmann::ordered_json describe() const override;
  void read_description(const nlohmann::ordered_json& json, const std::string& file) override;

  void make_model(bool to_train) override;
  analysis::ModelCost cost() const override;
  data::LabelledBatch gather(std::span<const int64_t> samples) const override;
  void augment(data::LabelledBatch& batch, int64_t number) const override;
  void prepare(data::LabelledBatch& batch) const override;
  int64_t views() const override { return int64_t{1} << config.classify.flips.size(); }
  data::LabelledBatch view(const data::LabelledBatch& batch, int64_t number) const override;

  std::unique_ptr<ClassificationRun> create() const override {
    return std::make_unique<VolumeClassificationRun>();
  }
  std::vector<std::string> evaluation_settings() const override {
    return {"classify.flip_axes", "augment.shape_transform"};
  }

  std::vector<std::string> figures() const override { return {"auc", "accuracy", "loss"}; }
  void keep_scores(const train::RunFolder& folder, const metrics::ScoreTable& table,
                   const metrics::ClassMetrics& metrics) const override;

  SampleView sample_view(int64_t sample) const override;
  std::string figure_text() const override { return "the slice along the first axis with the largest sum"; }
  std::vector<std::string> mode_names() const override;
  std::string combine() const override { return config.model.attention.combined(); }
  std::vector<Influence> influences(const models::ClassifierInput& input, const at::Tensor& whole,
                                    int64_t max_places) const override;
  std::string removal_text() const override { return "the slab becomes the mean of the volume"; }

 private:
  std::vector<std::string> trained_classes_;
};

}  // namespace modewise::tasks
