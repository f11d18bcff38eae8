#pragma once
// Config of volume classification runs: data, augmentation, model, evaluation, training and output.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/volume_classification/config.h"
#include "modewise/data/volume_classification/volumes.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct VolumeClassificationOptions : ClassOptions {
  std::vector<int64_t> flips;  // axes of test-time augmentation: probabilities are averaged over flips
  VolumeClassificationOptions() { select = "auc"; }
  void fields(Fields& f);
};

struct VolumeClassificationOutput {
  bool scores = true;  // test scores in the file format of MedMNIST's evaluator
  bool report = true;  // report.html after training
  void fields(Fields& f);
};

struct VolumeClassificationConfig {
  data::VolumeConfig data;
  data::AugmentConfig augment;
  models::VisionModelConfig model;
  VolumeClassificationOptions classify;
  train::TrainConfig train;
  VolumeClassificationOutput output;

  VolumeClassificationConfig();
  void fields(Fields& f);

  models::VisionShape model_shape(const data::VolumeSet& set) const;
  /// Checks rules between groups; messages begin with `source`.
  void validate(const std::string& source) const;
};

/// Model name for tables: "hot", "hot sum", "resnet18" …
std::string model_title(const VolumeClassificationConfig& config);
/// Data name: the file or folder name without extension.
std::string data_title(const VolumeClassificationConfig& config);

}  // namespace modewise::tasks
