#pragma once
// Image classification run.

#include <memory>
#include <string>
#include <vector>

#include "modewise/data/image_classification/images.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/image_classification/config.h"

namespace modewise::tasks {

class ImageClassificationRun final
    : public ClassificationRunOf<ImageClassificationConfig, data::ImageSet, models::VisionClassifier> {
 public:
  using ClassificationRunOf::ClassificationRunOf;

  ClassDescription about() const override;
  const ClassOptions& options() const override { return config.images; }

  void load_training_samples(bool with_test) override;
  void load_samples_of(const std::string& path, bool with_test) override;
  std::string samples_text() const override;
  nlohmann::ordered_json describe() const override;
  void restore(const nlohmann::ordered_json& json, const std::string& file) override;

  void make_model(Purpose purpose) override;
  nn::ModelCost cost() const override;
  data::LabelledBatch gather(std::span<const int64_t> samples) const override;
  void augment(data::LabelledBatch& batch, int64_t number) const override;

  void finish(nlohmann::ordered_json& metrics) override;
  SampleView sample_view(int64_t sample) const override;
  std::vector<Influence> influences(const models::ClassifierInput& input, const at::Tensor& whole,
                                    int64_t max_places) const override;

 private:
  std::vector<std::string> trained_classes_;
  at::Tensor mean_, stddev_;  // [C], of the training images
};

}  // namespace modewise::tasks
