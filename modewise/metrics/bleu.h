#pragma once
// Corpus BLEU of captions (Papineni et al. 2002) as in the COCO caption evaluation: clipped counts over all
// images, the closest reference length (the shorter of two); 1e-9 is added to each n-gram total and 1e-15 to
// each match count, against division by zero.

#include <array>
#include <span>
#include <vector>

#include "modewise/metrics/caption_words.h"
#include "modewise/metrics/ngrams.h"

namespace modewise::metrics {

using Bleu = std::array<double, kLongestNgram>;  // BLEU-1 … BLEU-4

/// Sufficient statistics of BLEU; those of several images add up.
struct BleuCounts {
  std::array<int64_t, kLongestNgram> found = {}, total = {};  // n-grams of the candidate
  int64_t length = 0, reference_length = 0;

  void add(const BleuCounts& other);
  Bleu score() const;
};

BleuCounts bleu_counts(const CaptionCase& image);

}  // namespace modewise::metrics
