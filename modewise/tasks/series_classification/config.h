#pragma once
// Config of series classification runs: data, augmentation, model, evaluation, training and output.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/series_classification/config.h"
#include "modewise/data/series_classification/series_collection.h"
#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct SeriesClassificationOptions : ClassOptions {
  SeriesClassificationOptions() { select = "loss"; }
  void fields(Fields& f);
};

struct SeriesOutput {
  bool report = true;  // report.html after training
  void fields(Fields& f);
};

struct SeriesClassificationConfig {
  data::CollectionConfig data;
  data::SeriesAugmentConfig augment;
  models::SeriesModelConfig model;
  SeriesClassificationOptions series;
  train::TrainConfig train;
  SeriesOutput output;

  SeriesClassificationConfig();
  void fields(Fields& f);

  models::SeriesShape model_shape(const data::SeriesCollection& set) const;
  /// Checks rules between groups; messages begin with `source`.
  void validate(const std::string& source) const;
};

/// Model name for tables: "patchtst axial", "tcn" …
std::string model_title(const SeriesClassificationConfig& config);
/// Data name, with the protocol if it is not official.
std::string data_title(const SeriesClassificationConfig& config);

}  // namespace modewise::tasks
