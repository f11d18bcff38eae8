#pragma once
// Everything a segmentation run is told: data, model, how it learns, how it is judged.

#include <string>

#include "modewise/data/scenes/config.h"
#include "modewise/data/scenes/scenes.h"
#include "modewise/models/scenes/config.h"
#include "modewise/models/scenes/segmenter.h"
#include "modewise/train/train_config.h"

namespace modewise::tasks {

struct SegmentOptions {
  std::string class_weights = "none";  // none | balanced | root
  std::string select = "mean_iou";     // mean_iou | accuracy | loss: what the best weights are chosen by
  double overlap = 0.25;               // of neighbouring windows, a share of the window
  int64_t evaluation_batch = 16;       // windows at a time
  void fields(Fields& f);
};

struct SegmentOutput {
  int64_t pictures = 4;  // test areas shown in the report
  bool report = true;    // report.html after training
  void fields(Fields& f);
};

struct SegmentConfig {
  data::SceneConfig data;
  models::SegmenterConfig model;
  SegmentOptions segment;
  train::TrainConfig train;
  SegmentOutput output;

  SegmentConfig();
  void fields(Fields& f);
  /// The rules that tie fields of several groups together; `source` opens the message.
  void validate(const std::string& source) const;
};

models::SceneShape model_shape(const data::SceneSummary& data);

/// A name for tables: "hot", "hot release sum", "unet" …
std::string model_title(const SegmentConfig& config);
/// The name of its data: the file's or folder's without its ending.
std::string data_title(const SegmentConfig& config);

}  // namespace modewise::tasks
