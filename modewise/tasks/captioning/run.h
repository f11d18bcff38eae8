#pragma once
// A captioner's run from its config to its folder, and back from its folder to a model.
//
// Besides the trainer's files a run keeps data.json (source, counts, the vocabulary, mean and deviation of
// the pixels) and captions.json (the captions of the test pictures, or of the validation pictures where there
// are no others, as COCO's results); metrics.json gains "train", "validation" and, where training reads it,
// "test".

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/captions/coco_captions.h"
#include "modewise/tasks/captioning/config.h"
#include "modewise/tasks/captioning/find.h"
#include "modewise/tasks/captioning/evaluate.h"
#include "modewise/tasks/open_run.h"
#include "modewise/tasks/trained_run.h"

namespace modewise::tasks {

/// data.json of a new run.
nlohmann::ordered_json describe(const data::CaptionSet& set);

/// Trains, judges captions of all parts, and writes all of it. With `resume` the run goes on where it was.
/// Throws train::EvaluationInterrupted when a signal came after the training.
TrainedRun train_captioner(const CaptioningConfig& config, const data::CaptionSet& set, train::RunFolder& run,
                           bool resume, bool accept_changes);

/// A run's model with its best weights.
struct CaptioningRun : OpenRun<CaptioningConfig, models::Captioner> {
  data::CaptionSet trained = {};  // vocabulary, mean and deviation, no pictures

  /// Its own pictures, from where they lay.
  data::CaptionSet load(bool with_test) const {
    return data::load_captions(config.data, with_test, &trained);
  }
  models::BeamOptions search() const { return {config.captions.beams, config.captions.length_penalty}; }
};
/// Errors as open_run.
CaptioningRun open_caption_run(const std::filesystem::path& path);

/// What is found for pictures, and how good that is: {"split", "loss", and what judge_captions gives}.
struct EvaluatedCaptions {
  io::ImageTexts captions;
  CaptionQuality evaluation;
  nlohmann::ordered_json json;
};
EvaluatedCaptions evaluate_samples(const CaptionFinder& finder, std::span<const int64_t> samples,
                             const std::string& split, const models::BeamOptions& search);
/// A part of the set; data error when it is empty.
EvaluatedCaptions evaluate_part(const CaptionFinder& finder, const std::string& part,
                          const models::BeamOptions& search);

/// COCO's results: [{"image_id", "caption"}].
nlohmann::ordered_json results_json(const io::ImageTexts& captions);

/// A caption for a picture that is in no set.
std::string caption_of(const CaptioningRun& run, const io::Image& image, const models::BeamOptions& search);

}  // namespace modewise::tasks
