#pragma once
// Everything a classification run is told: volumes, their variations, model, how to judge it, training,
// output.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/volumes/config.h"
#include "modewise/data/volumes/volumes.h"
#include "modewise/models/grids/config.h"
#include "modewise/models/grids/grid_classifier.h"
#include "modewise/tasks/labelled/labelled_run.h"
#include "modewise/train/train_config.h"

namespace modewise::tasks {

struct ClassifyOptions : ClassOptions {
  std::vector<int64_t> mirrors;  // axes: probabilities are averaged over all mirror images in evaluation
  ClassifyOptions() { select = "auc"; }
  void fields(Fields& f);
};

struct ClassifyOutput {
  bool scores = true;  // the test scores in a file as MedMNIST's evaluator writes it
  bool report = true;  // report.html after training
  void fields(Fields& f);
};

struct ClassifyConfig {
  data::VolumeConfig data;
  data::AugmentConfig augment;
  models::GridModelConfig model;
  ClassifyOptions classify;
  train::TrainConfig train;
  ClassifyOutput output;

  ClassifyConfig();
  void fields(Fields& f);

  models::GridShape model_shape(const data::VolumeSet& set) const;
  /// The rules that tie fields of several groups together; `source` opens the message.
  void validate(const std::string& source) const;
};

/// A name for tables: "hot", "hot sum", "resnet18" …
std::string model_title(const ClassifyConfig& config);
/// The name of its data: the file's or folder's without its ending.
std::string data_title(const ClassifyConfig& config);

}  // namespace modewise::tasks
