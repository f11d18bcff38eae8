#pragma once
// Everything a run that classifies pictures is told: pictures, their variations, model, how to judge it,
// training, output.

#include <string>

#include "modewise/core/fields.h"
#include "modewise/data/image_classification/config.h"
#include "modewise/data/image_classification/images.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct ImageClassificationOptions : ClassOptions {
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
  /// The rules that tie fields of several groups together; `source` opens the message.
  void validate(const std::string& source) const;
};

/// A name for tables: "cnn", "cnn tensor", "hot", "resnet18" …
std::string model_title(const ImageClassificationConfig& config);
/// The name of its data: the file's or folder's without its ending.
std::string data_title(const ImageClassificationConfig& config);

}  // namespace modewise::tasks
