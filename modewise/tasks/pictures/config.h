#pragma once
// Everything a run that classifies pictures is told: pictures, their variations, model, how to judge it,
// training, output.

#include <string>

#include "modewise/core/fields.h"
#include "modewise/data/pictures/config.h"
#include "modewise/data/pictures/pictures.h"
#include "modewise/models/grids/config.h"
#include "modewise/models/grids/grid_classifier.h"
#include "modewise/tasks/labelled/labelled_run.h"
#include "modewise/train/train_config.h"

namespace modewise::tasks {

struct PictureOptions : ClassOptions {
  PictureOptions() {
    select = "accuracy";
    evaluation_batch = 256;
  }
  void fields(Fields& f);
};

struct PictureOutput {
  bool report = true;  // report.html after training
  void fields(Fields& f);
};

struct PicturesConfig {
  data::PictureConfig data;
  data::PictureAugmentConfig augment;
  models::GridModelConfig model;
  PictureOptions pictures;
  train::TrainConfig train;
  PictureOutput output;

  PicturesConfig();
  void fields(Fields& f);

  models::GridShape model_shape(const data::PictureSet& set) const;
  /// The rules that tie fields of several groups together; `source` opens the message.
  void validate(const std::string& source) const;
};

/// A name for tables: "cnn", "cnn tensor", "hot", "resnet18" …
std::string model_title(const PicturesConfig& config);
/// The name of its data: the file's or folder's without its ending.
std::string data_title(const PicturesConfig& config);

}  // namespace modewise::tasks
