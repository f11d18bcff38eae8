#pragma once
// Config of captioning runs: data, model, training, evaluation and output.

#include <cstdint>
#include <string>

#include "modewise/core/fields.h"
#include "modewise/data/captioning/caption_set.h"
#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct CaptionOptions {
  double smoothing = 0.1;            // label smoothing
  double scheduled_sampling = 0;     // final probability of model samples as inputs
  int64_t self_critical_epochs = 0;  // last epochs with self-critical training (CIDEr-D)
  int64_t drawn = 1;                 // sampled captions per image in these epochs
  int64_t captions_per_image = 5;    // maximum captions per image in a step
  std::string select = "cider_d";  // cider_d | loss: validation metric for the selection of the best weights
  int64_t beams = 3;               // beam width after training
  double length_penalty = 0;
  int64_t evaluated_training = 500;  // maximum training images evaluated at the end
  int64_t evaluation_batch = 32;
  void fields(Fields& f);
};

struct CaptionOutput {
  bool report = true;  // report.html after training
  void fields(Fields& f);
};

struct CaptioningConfig {
  data::CaptionConfig data;
  models::CaptionModelConfig model;
  CaptionOptions captions;
  train::TrainConfig train;
  CaptionOutput output;

  CaptioningConfig();
  void fields(Fields& f);
  /// Checks rules between groups; messages begin with `source`.
  void validate(const std::string& source) const;
};

/// Model sizes for a set.
models::CaptionShape caption_shape(const data::CaptionSet& set);

/// Model name for tables: "lstm dense", "transformer dense": the encoder's attention, then the decoder's if
/// it is not dot-product attention.
std::string model_title(const CaptioningConfig& config);
/// Data name: the captions file without extension.
std::string data_title(const CaptioningConfig& config);

}  // namespace modewise::tasks
