#pragma once
// Everything a captioner's run is told: pictures and captions, model, how it is trained and judged, output.

#include <cstdint>
#include <string>

#include "modewise/core/fields.h"
#include "modewise/data/captioning/caption_set.h"
#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

struct CaptionOptions {
  double smoothing = 0.1;            // of the targets, over all words
  double scheduled_sampling = 0;     // share of the model's own words among the inputs at the end of training
  int64_t self_critical_epochs = 0;  // the last epochs, whose reward is CIDEr-D
  int64_t drawn = 1;                 // captions a picture that these draw
  int64_t captions_per_image = 5;  // in a step, at most
  std::string select = "cider_d";    // cider_d | loss: what the best weights are chosen by, on validation
  int64_t beams = 3;                 // kept in the search behind training
  double length_penalty = 0;
  int64_t evaluated_training = 500;  // training pictures that are judged at the end, at most
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
  /// The rules that tie fields of several groups together; `source` opens the message.
  void validate(const std::string& source) const;
};

/// The sizes that a model for the set has.
models::CaptionShape caption_shape(const data::CaptionSet& set);

/// A name for tables: "lstm dense", "transformer dense": the encoder's attention, then the decoder's where it
/// is not the dot product.
std::string model_title(const CaptioningConfig& config);
/// The name of its data: that of the captions' file without its ending.
std::string data_title(const CaptioningConfig& config);

}  // namespace modewise::tasks
