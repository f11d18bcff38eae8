#include "modewise/metrics/meteor.h"

#include <algorithm>
#include <cmath>

#include "modewise/metrics/english_stemmer.h"
#include "modewise/metrics/meteor_alignment.h"

namespace modewise::metrics {
namespace {

// METEOR 1.5, English, task "rank".
constexpr double kAlpha = 0.85, kBeta = 0.2, kGamma = 0.6, kDelta = 0.75;
constexpr std::array<double, 2> kKindWeights = {kDelta, 1 - kDelta};  // content, function
constexpr std::array<double, 2> kStageWeights = {1.0, 0.6};           // exact, stem

/// METEOR's English function words.
constexpr auto kFunctionWords = std::to_array<std::string_view>(
    {"the",   ",",      ".",      "to",     "of",    "and",  "a",     "in",    "that",  "for",   "\"",
     "is",    "on",     "'s",     "it",     "with",  "was",  "as",    "said",  "at",    "he",    "by",
     "be",    "from",   "have",   "has",    "are",   "his",  "but",   "an",    "this",  "not",   "i",
     "will",  "\u2019", "they",   ")",      "-rrb-", "(",    "-lrb-", "who",   "their", "had",   "we",
     "which", "were",   "been",   "more",   "or",    "s",    "its",   "would", "about", "new",   "one",
     "after", "you",    ":",      "also",   "up",    "when", "there", "than",  "$",     "all",   "out",
     "her",   "people", "she",    "year",   "two",   "-",    "can",   "if",    "last",  "first", "\u201c",
     "over",  "other",  "\u201d", "into",   "some",  "what", "so",    "--",    "no",    "time",  "years",
     "could", "?",      "'t",     "\u2014", "'"});

double weighted_words(const MeteorCounts::Side& side) {
  return side.words[0] * kKindWeights[0] + side.words[1] * kKindWeights[1];
}

double weighted_matches(const MeteorCounts::Side& side) {
  double sum = 0;
  for (size_t kind = 0; kind < 2; ++kind)
    for (size_t stage = 0; stage < 2; ++stage)
      sum += side.matches[stage][kind] * kStageWeights[stage] * kKindWeights[kind];
  return sum;
}

void add_side(MeteorCounts::Side& sum, const MeteorCounts::Side& other) {
  for (size_t kind = 0; kind < 2; ++kind) {
    sum.words[kind] += other.words[kind];
    for (size_t stage = 0; stage < 2; ++stage) sum.matches[stage][kind] += other.matches[stage][kind];
  }
}

}  // namespace

double MeteorCounts::Side::all_matches() const {
  return matches[0][0] + matches[0][1] + matches[1][0] + matches[1][1];
}

bool MeteorCounts::complete() const {
  return candidate.all_matches() == candidate.all_words() &&
         reference.all_matches() == reference.all_words() && chunks == 1;
}

void MeteorCounts::add(const MeteorCounts& other) {
  add_side(candidate, other.candidate);
  add_side(reference, other.reference);
  if (!other.complete()) chunks += other.chunks;
}

double MeteorCounts::score() const {
  if (candidate.all_matches() == 0 || reference.all_matches() == 0) return 0;
  const double precision = weighted_matches(candidate) / weighted_words(candidate);
  const double recall = weighted_matches(reference) / weighted_words(reference);
  const double mean = 1 / ((1 - kAlpha) / precision + kAlpha / recall);
  const double fragments =
      complete() ? 0 : chunks / ((candidate.all_matches() + reference.all_matches()) / 2);
  return std::max(mean * (1 - kGamma * std::pow(fragments, kBeta)), 0.0);
}

MeteorExactStem::MeteorExactStem(const std::vector<std::string_view>& words) {
  WordNumbers stems;
  for (const std::string_view word : words) {
    stems_.push_back(stems.number(english_stem(word)));
    function_words_.push_back(std::find(kFunctionWords.begin(), kFunctionWords.end(), word) !=
                              kFunctionWords.end());
  }
}

MeteorCounts::Kind MeteorExactStem::kind(int32_t word) const {
  return function_words_[static_cast<size_t>(word)] ? MeteorCounts::function : MeteorCounts::content;
}

MeteorCounts MeteorExactStem::counts(Words candidate, Words reference) const {
  const MeteorAlignment alignment = align_words(candidate, reference, stems_);
  MeteorCounts counts;
  for (const int32_t word : candidate) ++counts.candidate.words[kind(word)];
  for (const int32_t word : reference) ++counts.reference.words[kind(word)];
  for (size_t j = 0; j < reference.size(); ++j) {
    const MeteorAlignment::Match& match = alignment.matches[j];
    if (match.place < 0) continue;
    const size_t stage = match.exact ? 0 : 1;
    ++counts.candidate.matches[stage][kind(candidate[static_cast<size_t>(match.place)])];
    ++counts.reference.matches[stage][kind(reference[j])];
  }
  counts.chunks = static_cast<double>(alignment.chunks);
  return counts;
}

MeteorCounts MeteorExactStem::best_counts(const CaptionCase& image) const {
  MeteorCounts best;
  double highest = -1;
  for (const Words reference : image.references) {
    const MeteorCounts one = counts(image.candidate, reference);
    if (const double score = one.score(); score > highest) {
      highest = score;
      best = one;
    }
  }
  return best;
}

}  // namespace modewise::metrics
