#pragma once
// ROUGE-L of captions (Lin 2004) as in the COCO caption evaluation.

#include "modewise/metrics/caption_words.h"

namespace modewise::metrics {

/// (1 + β²) P R / (R + β² P), β = 1.2; P and R are the longest common subsequence over the length of the
/// candidate and of the reference, each the maximum over the references. An empty caption counts as one word
/// that only other empty captions have. 0 … 1.
double caption_rouge_l(const CaptionCase& image);

/// Length of the longest common subsequence, bit-parallel (Hyyrö 2004): time is the product of the lengths /
/// 64.
int64_t common_subsequence(Words a, Words b);

}  // namespace modewise::metrics
