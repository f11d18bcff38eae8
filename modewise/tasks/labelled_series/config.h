#pragma once
// Everything a run that classifies series is told: series, their variations, model, how to judge it,
// training, output.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/data/labelled_series/config.h"
#include "modewise/data/labelled_series/series_collection.h"
#include "modewise/models/labelled_series/config.h"
#include "modewise/models/labelled_series/series_classifier.h"
#include "modewise/tasks/labelled/labelled_run.h"
#include "modewise/train/train_config.h"

namespace modewise::tasks {

struct SeriesOptions : ClassOptions {
  SeriesOptions() { select = "loss"; }
  void fields(Fields& f);
};

struct SeriesOutput {
  bool report = true;  // report.html after training
  void fields(Fields& f);
};

struct LabelledSeriesConfig {
  data::CollectionConfig data;
  data::VariationConfig vary;
  models::SeriesModelConfig model;
  SeriesOptions series;
  train::TrainConfig train;
  SeriesOutput output;

  LabelledSeriesConfig();
  void fields(Fields& f);

  models::SeriesShape model_shape(const data::SeriesCollection& set) const;
  /// The rules that tie fields of several groups together; `source` opens the message.
  void validate(const std::string& source) const;
};

/// A name for tables: "patchtst axial", "tcn" …
std::string model_title(const LabelledSeriesConfig& config);
/// The name of its data, with the protocol where it is not the official one.
std::string data_title(const LabelledSeriesConfig& config);

}  // namespace modewise::tasks
