#pragma once
// METEOR 1.5 (Denkowski, Lavie 2014) for English in its first two stages: equal words, and words of one stem.
// Synonyms and paraphrases, which need WordNet and a table of 60 MB, are left out, so figures are lower than
// those of METEOR proper and compare with each other only.

#include <array>
#include <string_view>
#include <vector>

#include "modewise/metrics/caption_words.h"

namespace modewise::metrics {

/// What is counted of a caption and a reference; counts of several images add up.
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

  /// Whether every word has its match, all in one chunk: there is no penalty then.
  bool complete() const;
  void add(const MeteorCounts& other);
  /// (1 − 0.6 (chunks / matches)^0.2) · P R / (0.85 P + 0.15 R), P and R weighting content words with 0.75
  /// and function words with 0.25, stem matches with 0.6. 0 where nothing matches.
  double score() const;
};

class MeteorExactStem {
 public:
  /// For captions of these words ([number]), lower case.
  explicit MeteorExactStem(const std::vector<std::string_view>& words);

  MeteorCounts counts(Words candidate, Words reference) const;
  /// Of the reference with the highest score, the first of equals.
  MeteorCounts best_counts(const CaptionCase& image) const;

 private:
  MeteorCounts::Kind kind(int32_t word) const;

  std::vector<int32_t> stems_;
  std::vector<bool> function_words_;
};

}  // namespace modewise::metrics
