#include "modewise/metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace modewise::metrics {
namespace {

constexpr double kSmall = 1e-9, kTiny = 1e-15;

int64_t closest_length(const CaptionCase& image) {
  const auto length = static_cast<int64_t>(image.candidate.size());
  int64_t closest = -1;
  for (const Words reference : image.references) {
    const auto other = static_cast<int64_t>(reference.size());
    const int64_t better = std::abs(other - length) - std::abs(closest - length);
    if (closest < 0 || better < 0 || (better == 0 && other < closest)) closest = other;
  }
  return closest;
}

/// Occurrences in `words` of each n-gram of `numbers`.
void count_known(const NgramNumbers& numbers, Words words, std::vector<int64_t>& counts) {
  counts.assign(numbers.size(), 0);
  for_each_ngram(
      words, [&](uint32_t prefix, int32_t word) { return numbers.find(prefix, word); },
      [&](size_t, uint32_t ngram) { ++counts[ngram]; });
}

}  // namespace

void BleuCounts::add(const BleuCounts& other) {
  for (size_t n = 0; n < kLongestNgram; ++n) {
    found[n] += other.found[n];
    total[n] += other.total[n];
  }
  length += other.length;
  reference_length += other.reference_length;
}

Bleu BleuCounts::score() const {
  Bleu bleu;
  const double ratio =
      (static_cast<double>(length) + kTiny) / (static_cast<double>(reference_length) + kSmall);
  const double brevity = ratio < 1 ? std::exp(1 - 1 / ratio) : 1;
  double product = 1;
  for (size_t n = 0; n < kLongestNgram; ++n) {
    product *= (static_cast<double>(found[n]) + kTiny) / (static_cast<double>(total[n]) + kSmall);
    bleu[n] = std::pow(product, 1 / static_cast<double>(n + 1)) * brevity;
  }
  return bleu;
}

BleuCounts bleu_counts(const CaptionCase& image) {
  BleuCounts counts;
  counts.length = static_cast<int64_t>(image.candidate.size());
  counts.reference_length = closest_length(image);
  NgramNumbers numbers;
  std::vector<size_t> orders;  // n − 1 of each n-gram
  for_each_ngram(
      image.candidate, [&](uint32_t prefix, int32_t word) { return numbers.number(prefix, word); },
      [&](size_t n, uint32_t ngram) {
        if (ngram == orders.size()) orders.push_back(n - 1);
        ++counts.total[n - 1];
      });
  std::vector<int64_t> maximum(numbers.size(), 0), own, one;
  for (const Words reference : image.references) {
    count_known(numbers, reference, one);
    for (size_t i = 0; i < maximum.size(); ++i) maximum[i] = std::max(maximum[i], one[i]);
  }
  count_known(numbers, image.candidate, own);
  for (size_t i = 0; i < own.size(); ++i) counts.found[orders[i]] += std::min(own[i], maximum[i]);
  return counts;
}

}  // namespace modewise::metrics
