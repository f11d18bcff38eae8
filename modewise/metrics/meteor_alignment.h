#pragma once
// Which words of a caption stand for which of a reference, as METEOR 1.5 finds it with exact and stem matches
// alone.

#include <cstdint>
#include <vector>

#include "modewise/metrics/caption_words.h"

namespace modewise::metrics {

struct MeteorAlignment {
  struct Match {
    int32_t place = -1;  // in the candidate; −1: none
    bool exact = false;  // else by the stem
  };
  std::vector<Match> matches;  // [words of the reference]
  int64_t chunks = 0;          // runs of matches that are side by side in both
};

/// The alignment with most exact matches, then the fewest chunks, then the least distance, by METEOR's
/// search: left to right over the reference, the 40 best beginnings at a time. Words that match one word of
/// the other side alone are matched to it. `stems`: of each word's number.
MeteorAlignment align_words(Words candidate, Words reference, const std::vector<int32_t>& stems);

}  // namespace modewise::metrics
