#pragma once
// Config of image classification runs: data, augmentation, model, evaluation, training and output.

#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/image_classification/config.h"
#include "modewise/data/image_classification/images.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct ImageClassificationOptions : ClassOptions {
  std::vector<std::string> robustness;  // perturbations evaluated on the test split after training

  ImageClassificationOptions() {
    select = "accuracy";
    evaluation_batch = 256;
  }
  void fields(Fields& f);
};

struct ImageClassificationOutput {
  bool report = true;  // report.html after training
  void fields(Fields& f);
};

struct ImageClassificationConfig {
  data::ImageConfig data;
  data::ImageAugmentConfig augment;
  models::VisionModelConfig model;
  ImageClassificationOptions images;
  train::TrainConfig train;
  ImageClassificationOutput output;

  ImageClassificationConfig();
  void fields(Fields& f);

  models::VisionShape model_shape(const data::ImageSet& set) const;
  /// Checks rules between groups; messages begin with `source`.
  void validate(const std::string& source) const;
};

/// Model name for tables: "cnn", "cnn stt", "hot", "resnet18" …
std::string model_title(const ImageClassificationConfig& config);
/// Data name: the file or folder name without extension.
std::string data_title(const ImageClassificationConfig& config);

}  // namespace modewise::tasks
