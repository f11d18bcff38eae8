#pragma once
// Unigram model of sentencepiece (Kudo, "Subword Regularization", 2018): the segmentation with the greatest
// sum of scores (log probabilities), by the Viterbi algorithm.

#include <functional>
#include <string_view>

#include "modewise/io/tokenizers/sentencepiece_model.h"
#include "modewise/text/prefix_index.h"

namespace modewise::text {

class UnigramPaths {
 public:
  /// `model` must outlive this.
  explicit UnigramPaths(const io::SentencePieceModel& model);

  /// Calls `found` with the pieces of the best path in order. A character without a piece gets the id
  /// model.unknown. For equal sums the path with the longest last pieces wins, as in sentencepiece; sums are
  /// float64, sentencepiece's are float32 and may choose another path after some ten thousand characters.
  void best(std::string_view text, const std::function<void(std::string_view, int32_t)>& found) const;

 private:
  const io::SentencePieceModel& model_;
  PrefixIndex index_;  // the pieces to match
  float unknown_score_, highest_;
};

}  // namespace modewise::text
