#pragma once
// All caption metrics, per image and for the corpus.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "modewise/metrics/bleu.h"
#include "modewise/metrics/caption_words.h"

namespace modewise::metrics {

struct CaptionScores {
  Bleu bleu = {};
  double meteor_exact_stem = 0, rouge_l = 0, cider_d = 0;

  struct Named {
    std::string_view key, title;
    double value;
  };
  /// In display order.
  std::vector<Named> named() const;
};

struct CaptionEvaluation {
  CaptionScores all;
  std::vector<CaptionScores> images;  // as given
};

/// Corpus BLEU and METEOR come from summed counts; ROUGE-L and CIDEr-D are means over the images, CIDEr-D
/// with the references of these images as its corpus. `words`: WordNumbers::words(). Usage error without
/// images, or for an image without references.
CaptionEvaluation score_captions(std::span<const CaptionCase> images,
                                 const std::vector<std::string_view>& words);

nlohmann::ordered_json to_json(const CaptionScores& scores);

}  // namespace modewise::metrics
