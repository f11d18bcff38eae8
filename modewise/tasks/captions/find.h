#pragma once
// Captions that a model finds for pictures of a set, and how likely it thinks those of people.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/captions/caption_set.h"
#include "modewise/io/captions/coco_captions.h"
#include "modewise/models/captions/caption_search.h"

namespace modewise::tasks {

/// The pictures of a part; those of the training for "validation" where no picture is held back.
const std::vector<int64_t>& judged_pictures(const data::CaptionSet& set, const std::string& part);

/// The best caption of each of the pictures cells [B, h, w, D]; with one beam the likeliest word at each
/// place.
std::vector<models::FoundCaption> find_captions(models::Captioner& model, const at::Tensor& cells,
                                                const models::BeamOptions& options);

/// In evaluation mode and without gradients, `batch` pictures at a time. Throws
/// train::EvaluationInterrupted on a stop signal.
struct CaptionFinder {
  models::Captioner& model;
  const data::CaptionSet& set;
  int64_t batch;

  /// One text a picture, by their ids.
  io::ImageTexts captions(std::span<const int64_t> samples, const models::BeamOptions& options) const;
  io::ImageTexts likeliest(std::span<const int64_t> samples) const { return captions(samples, {.beams = 1}); }
  /// Mean of −log p of the words of people's captions and their end, up to max_words of each.
  double loss(std::span<const int64_t> samples) const;

 private:
  void for_batches(std::span<const int64_t> samples,
                   const std::function<void(std::span<const int64_t>)>& visit) const;
};

}  // namespace modewise::tasks
