#pragma once
// All metrics of captions, of each image and of all together.

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
  /// In the order in which they are shown.
  std::vector<Named> named() const;
};

struct CaptionEvaluation {
  CaptionScores all;
  std::vector<CaptionScores> images;  // as given
};

/// BLEU and METEOR of all images come from their counts added up; ROUGE-L and CIDEr-D are means over the
/// images, CIDEr-D with the references of these images as its corpus. `words` of WordNumbers. Usage error
/// without images, or for one without references.
CaptionEvaluation score_captions(std::span<const CaptionCase> images,
                                 const std::vector<std::string_view>& words);

nlohmann::ordered_json to_json(const CaptionScores& scores);

}  // namespace modewise::metrics
