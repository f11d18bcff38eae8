#pragma once
// ROUGE-L of captions (Lin 2004) as the evaluation of COCO captions has it.

#include "modewise/metrics/caption_words.h"

namespace modewise::metrics {

/// (1 + β²) P R / (R + β² P), β = 1.2, with the longest common subsequence over the length of the candidate
/// as P, over that of the reference as R, each the best over the references. A caption without words counts
/// as one word that only another such caption has. 0 … 1.
double caption_rouge_l(const CaptionCase& image);

/// The length of the longest common subsequence, by bits (Hyyrö 2004): time is product of the lengths / 64.
int64_t common_subsequence(Words a, Words b);

}  // namespace modewise::metrics
