#pragma once
// Everything a classification run is told: volumes, their variations, model, how to judge it, training,
// output.

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
  std::vector<int64_t> flips;  // axes: probabilities are averaged over all mirror images in evaluation
  VolumeClassificationOptions() { select = "auc"; }
  void fields(Fields& f);
};

struct VolumeClassificationOutput {
  bool scores = true;  // the test scores in a file as MedMNIST's evaluator writes it
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
  /// The rules that tie fields of several groups together; `source` opens the message.
  void validate(const std::string& source) const;
};

/// A name for tables: "hot", "hot sum", "resnet18" …
std::string model_title(const VolumeClassificationConfig& config);
/// The name of its data: the file's or folder's without its ending.
std::string data_title(const VolumeClassificationConfig& config);

}  // namespace modewise::tasks
