#pragma once
// Caption generation for images of a set (beam search), and the loss of reference captions.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/captioning/caption_set.h"
#include "modewise/io/captions/image_texts.h"
#include "modewise/models/captioning/caption_search.h"

namespace modewise::tasks {

/// Images of a split; training images for "validation" if the validation split is empty.
const std::vector<int64_t>& evaluated_images(const data::CaptionSet& set, const std::string& part);

/// Captions by image id from the words of each sample.
io::ImageTexts caption_texts(const data::CaptionSet& set, std::span<const int64_t> samples,
                             std::span<const std::vector<int64_t>> words);

/// The best caption for each image with cells [B, h, w, D]; greedy search for beam width 1.
std::vector<models::FoundCaption> find_captions(models::Captioner& model, const at::Tensor& cells,
                                                const models::BeamOptions& options);

/// Sum of −log p of words.
struct WordLoss {
  double sum = 0;
  int64_t words = 0;
  double mean() const { return sum / static_cast<double>(words); }
};

/// Batched generation in evaluation mode and without gradients, `batch` images at a time. Throws
/// train::EvaluationInterrupted on a stop signal.
struct CaptionFinder {
  models::Captioner& model;
  const data::CaptionSet& set;
  int64_t batch;

  /// Word ids of one caption per image.
  std::vector<std::vector<int64_t>> words(std::span<const int64_t> samples,
                                          const models::BeamOptions& options) const;
  /// One caption per image, by image id.
  io::ImageTexts captions(std::span<const int64_t> samples, const models::BeamOptions& options) const;
  /// Loss of the words and EOS of reference captions, up to max_words each.
  WordLoss loss(std::span<const int64_t> samples) const;

 private:
  void for_batches(std::span<const int64_t> samples,
                   const std::function<void(std::span<const int64_t>)>& visit) const;
};

}  // namespace modewise::tasks
