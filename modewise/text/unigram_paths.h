#pragma once
// The unigram model of sentencepiece (Kudo, "Subword Regularization", 2018): of all ways to cut a text into
// pieces, the one whose scores, log probabilities, have the greatest sum, found by Viterbi's algorithm.

#include <functional>
#include <string_view>

#include "modewise/io/tokenizers/sentencepiece_model.h"
#include "modewise/text/prefix_index.h"

namespace modewise::text {

class UnigramPaths {
 public:
  /// `model` must outlive this.
  explicit UnigramPaths(const io::SentencePieceModel& model);

  /// Calls `found` with the pieces of the best path in order. A character without a piece is one of id
  /// model.unknown. Of equal sums the path whose last pieces are longest wins, as in sentencepiece, which
  /// sums in float32 and takes another path now and then after some ten thousand characters; here sums are
  /// float64.
  void best(std::string_view text, const std::function<void(std::string_view, int32_t)>& found) const;

 private:
  const io::SentencePieceModel& model_;
  PrefixIndex index_;  // of the pieces that may be found
  float unknown_score_, highest_;
};

}  // namespace modewise::text
