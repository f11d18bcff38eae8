#pragma once
// Word alignment of METEOR 1.5 between a caption and a reference, with exact and stem matches only.

#include <cstdint>
#include <vector>

#include "modewise/metrics/caption_words.h"

namespace modewise::metrics {

struct MeteorAlignment {
  struct Match {
    int32_t place = -1;  // in the candidate; −1: none
    bool exact = false;  // otherwise a stem match
  };
  std::vector<Match> matches;  // [words of the reference]
  int64_t chunks = 0;          // runs of matches that are contiguous in both
};

/// The alignment with the most exact matches, then the fewest chunks, then the smallest distance, by METEOR's
/// beam search: left to right over the reference, beam width 40. Words with a unique match on both sides are
/// matched first. `stems`: stem id of each word id.
MeteorAlignment align_words(Words candidate, Words reference, const std::vector<int32_t>& stems);

}  // namespace modewise::metrics
