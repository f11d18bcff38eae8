#pragma once
// Everything a segmentation run is told: data, model, how it learns, how it is judged.

#include <string>

#include "modewise/data/segmentation/config.h"
#include "modewise/data/segmentation/segmentation_set.h"
#include "modewise/models/segmentation/config.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct SegmentationOptions {
  std::string class_weights = "none";  // none | balanced | root
  std::string select = "mean_iou";     // mean_iou | accuracy | loss: what the best weights are chosen by
  double overlap = 0.25;               // of neighbouring windows, a share of the window
  int64_t evaluation_batch = 16;       // windows at a time
  void fields(Fields& f);
};

struct SegmentationOutput {
  int64_t figures = 4;  // test areas shown in the report
  bool report = true;    // report.html after training
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
  /// The rules that tie fields of several groups together; `source` opens the message.
  void validate(const std::string& source) const;
};

models::SegmentationShape model_shape(const data::SceneSummary& data);

/// A name for tables: "hot", "hot release sum", "unet" …
std::string model_title(const SegmentationConfig& config);
/// The name of its data: the file's or folder's without its ending.
std::string data_title(const SegmentationConfig& config);

}  // namespace modewise::tasks
