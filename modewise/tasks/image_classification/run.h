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
  const char* task() const override { return "image_classification"; }
  const char* subject() const override { return "images"; }
  const ClassOptions& options() const override { return config.images; }
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

  std::unique_ptr<ClassificationRun> create() const override {
    return std::make_unique<ImageClassificationRun>();
  }

  std::vector<std::string> figures() const override { return {"auc", "accuracy", "loss"}; }

  SampleView sample_view(int64_t sample) const override;
  std::string figure_text() const override { return "model input before normalization"; }
  std::vector<std::string> mode_names() const override { return {"row", "column"}; }
  std::string combine() const override;
  std::vector<Influence> influences(const models::ClassifierInput& input, const at::Tensor& whole,
                                    int64_t max_places) const override;
  std::string removal_text() const override { return "the rows or columns become the mean of the image"; }

 private:
  std::vector<std::string> trained_classes_;
  at::Tensor mean_, stddev_;  // [C], of the training images
};

}  // namespace modewise::tasks
