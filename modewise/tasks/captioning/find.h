#pragma once
// Captions that a model finds for pictures of a set, and how likely it thinks those of people.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/captioning/caption_set.h"
#include "modewise/io/captions/coco_captions.h"
#include "modewise/models/captioning/caption_search.h"

namespace modewise::tasks {

/// The pictures of a part; those of the training for "validation" where no picture is held back.
const std::vector<int64_t>& evaluated_images(const data::CaptionSet& set, const std::string& part);

/// Captions by the ids of their pictures; `words` are those of the samples, one by one.
io::ImageTexts caption_texts(const data::CaptionSet& set, std::span<const int64_t> samples,
                             std::span<const std::vector<int64_t>> words);

/// The best caption of each of the pictures cells [B, h, w, D]; with one beam the likeliest word at each
/// place.
std::vector<models::FoundCaption> find_captions(models::Captioner& model, const at::Tensor& cells,
                                                const models::BeamOptions& options);

/// −log p of words, summed.
struct WordLoss {
  double sum = 0;
  int64_t words = 0;
  double mean() const { return sum / static_cast<double>(words); }
};

/// In evaluation mode and without gradients, `batch` pictures at a time. Throws
/// train::EvaluationInterrupted on a stop signal.
struct CaptionFinder {
  models::Captioner& model;
  const data::CaptionSet& set;
  int64_t batch;

  /// The words of one caption a picture.
  std::vector<std::vector<int64_t>> words(std::span<const int64_t> samples,
                                          const models::BeamOptions& options) const;
  /// One text a picture, by their ids.
  io::ImageTexts captions(std::span<const int64_t> samples, const models::BeamOptions& options) const;
  /// Of the words of people's captions and their end, up to max_words of each.
  WordLoss loss(std::span<const int64_t> samples) const;

 private:
  void for_batches(std::span<const int64_t> samples,
                   const std::function<void(std::span<const int64_t>)>& visit) const;
};

}  // namespace modewise::tasks
