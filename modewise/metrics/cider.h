#pragma once
// CIDEr-D (Vedantam, Zitnick, Parikh 2015, equations 2 to 5) as in the COCO caption evaluation, which calls
// it CIDEr: no stemming, n = 1 … 4.

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/metrics/caption_words.h"
#include "modewise/metrics/ngrams.h"

namespace modewise::metrics {

/// Document frequencies of n-grams over the references of images. Built once, then used for any number of
/// captions: of an evaluation, or of the batches of self-critical training with the CIDEr-D reward.
class CiderScorer {
 public:
  /// Counts the references of these images. N-grams of a single image have the same weight as unseen ones and
  /// are not stored.
  explicit CiderScorer(std::span<const CaptionCase> images);
  int64_t images() const { return images_; }

  /// Score 0 … 10 of one image, which need not be one of the counted images:
  ///   10 / 4 · Σ_n mean over references r of exp(−(l_c − l_r)² / 2·6²) · Σ_g min(v_c(g), v_r(g)) v_r(g) /
  ///   (‖v_c‖ ‖v_r‖)
  /// over the n-grams g of the candidate c, with v(g) = count of g · (ln images − ln max(1, images with g))
  /// and l the number of words minus one, at least 0. With only one counted image all weights and scores are
  /// 0. Usage error for an image without references.
  double score(const CaptionCase& image) const;
  std::vector<double> scores(std::span<const CaptionCase> images) const;

 private:
  void count(std::span<const CaptionCase> images, size_t n);

  NgramNumbers numbers_;
  std::vector<int32_t> frequencies_;  // [n-gram]: number of images with it, at least two
  int64_t images_ = 0;
};

}  // namespace modewise::metrics
