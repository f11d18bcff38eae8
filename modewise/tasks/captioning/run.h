#pragma once
// Captioning run: training to a run folder, and opening of a run folder.
//
// Besides the trainer's files it has data.json (source, counts, vocabulary, mean and standard deviation of
// the pixels) and captions.json (captions of the test images, or else of the validation images, in COCO
// results format); metrics.json has "train", "validation" and, if training reads the test split, "test".

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/captions/coco_captions.h"
#include "modewise/tasks/captioning/config.h"
#include "modewise/tasks/captioning/evaluate.h"
#include "modewise/tasks/captioning/find.h"
#include "modewise/tasks/open_run.h"
#include "modewise/tasks/trained_run.h"

namespace modewise::tasks {

/// data.json of a new run.
nlohmann::ordered_json describe(const data::CaptionSet& set);

/// Trains, evaluates captions of all splits, and writes the results. With `resume` the run continues. Throws
/// train::EvaluationInterrupted if a signal arrives after training.
TrainedRun train_captioner(const CaptioningConfig& config, const data::CaptionSet& set, train::RunFolder& run,
                           bool resume, bool accept_changes);

/// A run with the best weights of its model.
struct CaptioningRun : OpenRun<CaptioningConfig, models::Captioner> {
  data::CaptionSet trained = {};  // vocabulary, mean and std, no images

  /// Loads the run's own images from their original location.
  data::CaptionSet load(bool with_test) const {
    return data::load_captions(config.data, with_test, &trained);
  }
  models::BeamOptions search() const { return {config.captions.beams, config.captions.length_penalty}; }
};
/// Errors as open_run.
CaptioningRun open_caption_run(const std::filesystem::path& path);

/// Generated captions and their evaluation: {"split", "loss", metrics of evaluate_captions}.
struct EvaluatedCaptions {
  io::ImageTexts captions;
  CaptionQuality evaluation;
  nlohmann::ordered_json json;
};
EvaluatedCaptions evaluate_samples(const CaptionFinder& finder, std::span<const int64_t> samples,
                                   const std::string& split, const models::BeamOptions& search);
/// Evaluates a split; data error if it is empty.
EvaluatedCaptions evaluate_part(const CaptionFinder& finder, const std::string& part,
                                const models::BeamOptions& search);

/// COCO results format: [{"image_id", "caption"}].
nlohmann::ordered_json results_json(const io::ImageTexts& captions);

/// Caption of a single image.
std::string caption_of(const CaptioningRun& run, const io::Image& image, const models::BeamOptions& search);

}  // namespace modewise::tasks
