#pragma once
// METEOR 1.5 (Denkowski, Lavie 2014) for English with exact and stem matches only. Synonyms and paraphrases,
// which need WordNet and a table of 60 MB, are not matched, so scores are lower than those of full METEOR and
// comparable only with each other.

#include <array>
#include <string_view>
#include <vector>

#include "modewise/metrics/caption_words.h"

namespace modewise::metrics {

/// Sufficient statistics of a caption and a reference; those of several images add up.
struct MeteorCounts {
  enum Kind : size_t { content, function };
  struct Side {
    std::array<double, 2> words = {};                   // [kind]
    std::array<std::array<double, 2>, 2> matches = {};  // [exact, stem][kind]

    double all_words() const { return words[content] + words[function]; }
    double all_matches() const;
  };
  Side candidate, reference;
  double chunks = 0;

  /// Whether every word is matched, all in one chunk, which has no penalty.
  bool complete() const;
  void add(const MeteorCounts& other);
  /// (1 − 0.6 (chunks / matches)^0.2) · P R / (0.85 P + 0.15 R), P and R weighting content words with 0.75
  /// and function words with 0.25, stem matches with 0.6. 0 without matches.
  double score() const;
};

class MeteorExactStem {
 public:
  /// `words`: words by id, in lower case.
  explicit MeteorExactStem(const std::vector<std::string_view>& words);

  MeteorCounts counts(Words candidate, Words reference) const;
  /// Counts with the best-scoring reference, the first of equals.
  MeteorCounts best_counts(const CaptionCase& image) const;

 private:
  MeteorCounts::Kind kind(int32_t word) const;

  std::vector<int32_t> stems_;
  std::vector<bool> function_words_;
};

}  // namespace modewise::metrics
