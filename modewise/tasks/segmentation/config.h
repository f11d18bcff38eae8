#pragma once
// Config of segmentation runs: data, model, training, evaluation and output.

#include <string>

#include "modewise/data/segmentation/config.h"
#include "modewise/data/segmentation/segmentation_set.h"
#include "modewise/models/segmentation/config.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct SegmentationOptions {
  std::string class_weights = "none";  // none | balanced | root
  std::string select =
      "mean_iou";                 // mean_iou | accuracy | loss: metric for the selection of the best weights
  double overlap = 0.25;          // of neighbouring windows, relative to the window
  int64_t evaluation_batch = 16;  // batch size in windows
  void fields(Fields& f);
};

struct SegmentationOutput {
  int64_t figures = 4;  // test areas shown in the report
  bool report = true;   // report.html after training
  void fields(Fields& f);
};

struct SegmentationConfig {
  data::SegmentationDataConfig data;
  models::SegmenterConfig model;
  SegmentationOptions segment;
  train::TrainConfig train;
  SegmentationOutput output;

  SegmentationConfig();
  void fields(Fields& f);
  /// Checks rules between groups; messages begin with `source`.
  void validate(const std::string& source) const;
};

models::SegmentationShape model_shape(const data::SceneSummary& data);

/// Model name for tables: "hot", "hot release sum", "unet" …
std::string model_title(const SegmentationConfig& config);
/// Data name: the file or folder name without extension.
std::string data_title(const SegmentationConfig& config);

}  // namespace modewise::tasks
