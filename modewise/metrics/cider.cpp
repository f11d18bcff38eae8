#include "modewise/metrics/cider.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "modewise/core/error.h"

namespace modewise::metrics {
namespace {

constexpr double kSigma = 6, kScale = 10;

/// The n-grams of one image's captions, with ids and weights of their own.
struct ImageNgrams {
  NgramNumbers numbers;
  std::vector<double> weights;  // [n-gram]: weight of one occurrence
  std::vector<size_t> orders;   // [n-gram]: n − 1
};

/// N-gram counts of a caption, sorted by id.
struct Vector {
  std::vector<std::pair<uint32_t, double>> counts;
  std::array<double, kLongestNgram> norms = {};
  double length = 0;
};

Vector vector_of(const std::vector<uint32_t>& ngrams, size_t words, const ImageNgrams& image) {
  Vector vector;
  std::vector<uint32_t> sorted = ngrams;
  std::sort(sorted.begin(), sorted.end());
  for (const uint32_t ngram : sorted) {
    if (vector.counts.empty() || vector.counts.back().first != ngram) vector.counts.emplace_back(ngram, 0);
    ++vector.counts.back().second;
  }
  for (const auto& [ngram, count] : vector.counts)
    vector.norms[image.orders[ngram]] += count * image.weights[ngram] * count * image.weights[ngram];
  for (double& norm : vector.norms) norm = std::sqrt(norm);
  vector.length = words > 0 ? static_cast<double>(words - 1) : 0;
  return vector;
}

/// Σ over n of the clipped cosine similarity, with the length penalty.
double similarity(const Vector& candidate, const Vector& reference, const ImageNgrams& image) {
  std::array<double, kLongestNgram> products = {};
  auto other = reference.counts.begin();
  for (const auto& [ngram, count] : candidate.counts) {
    while (other != reference.counts.end() && other->first < ngram) ++other;
    if (other == reference.counts.end()) break;
    if (other->first != ngram) continue;
    const double weight = image.weights[ngram];
    products[image.orders[ngram]] += std::min(count, other->second) * weight * other->second * weight;
  }
  const double difference = candidate.length - reference.length;
  const double penalty = std::exp(-difference * difference / (2 * kSigma * kSigma));
  double sum = 0;
  for (size_t n = 0; n < kLongestNgram; ++n) {
    const double norms = candidate.norms[n] * reference.norms[n];
    sum += norms > 0 ? products[n] / norms * penalty : 0;
  }
  return sum;
}

}  // namespace

CiderScorer::CiderScorer(std::span<const CaptionCase> images) : images_(std::ssize(images)) {
  // By increasing length: an extension of an n-gram of a single image is in that image only.
  for (size_t n = 1; n <= kLongestNgram; ++n) count(images, n);
}

void CiderScorer::count(std::span<const CaptionCase> images, size_t n) {
  const size_t shorter = numbers_.size();
  std::vector<size_t> last;  // [n-gram − shorter]: last image with it
  for (size_t i = 0; i < images.size(); ++i) {
    for (const Words reference : images[i].references) {
      for (size_t begin = 0; begin + n <= reference.size(); ++begin) {
        const Words words = reference.subspan(begin, n);
        uint32_t prefix = NgramNumbers::kNone;
        const bool known = std::all_of(words.begin(), words.end() - 1, [&](int32_t word) {
          prefix = numbers_.find(prefix, word);
          return prefix != NgramNumbers::kNone;
        });
        if (!known) continue;
        const uint32_t ngram = numbers_.number(prefix, words.back());
        if (ngram == frequencies_.size()) {
          frequencies_.push_back(1);
          last.push_back(i);
        } else if (last[ngram - shorter] != i) {
          ++frequencies_[ngram];
          last[ngram - shorter] = i;
        }
      }
    }
  }
  numbers_.filter(shorter, [&](size_t ngram) { return frequencies_[ngram] > 1; });
  frequencies_.erase(
      std::remove(frequencies_.begin() + static_cast<std::ptrdiff_t>(shorter), frequencies_.end(), 1),
      frequencies_.end());
}

double CiderScorer::score(const CaptionCase& image) const {
  require(!image.references.empty(), ErrorKind::usage, "CIDEr-D: an image without references");
  ImageNgrams known;
  const double maximum = std::log(static_cast<double>(std::max<int64_t>(images_, 1)));
  std::vector<uint32_t> counted;  // ids of these n-grams in the scorer, or kNone
  const auto number = [&](uint32_t prefix, int32_t word) {
    const uint32_t ngram = known.numbers.number(prefix, word);
    if (ngram < counted.size()) return ngram;
    const bool has_prefix = prefix != NgramNumbers::kNone;
    const uint32_t prefix_here = has_prefix ? counted[prefix] : NgramNumbers::kNone;
    const bool unknown = has_prefix && prefix_here == NgramNumbers::kNone;
    counted.push_back(unknown ? NgramNumbers::kNone : numbers_.find(prefix_here, word));
    const int32_t frequency = counted.back() == NgramNumbers::kNone ? 1 : frequencies_[counted.back()];
    known.weights.push_back(maximum - std::log(frequency));
    known.orders.push_back(has_prefix ? known.orders[prefix] + 1 : 0);
    return ngram;
  };
  std::vector<uint32_t> ngrams;
  const auto vector = [&](Words words) {
    ngrams.clear();
    for_each_ngram(words, number, [&](size_t, uint32_t ngram) { ngrams.push_back(ngram); });
    return vector_of(ngrams, words.size(), known);
  };
  const Vector candidate = vector(image.candidate);
  double sum = 0;
  for (const Words reference : image.references) sum += similarity(candidate, vector(reference), known);
  return kScale * sum / static_cast<double>(kLongestNgram) / static_cast<double>(image.references.size());
}

std::vector<double> CiderScorer::scores(std::span<const CaptionCase> images) const {
  std::vector<double> all;
  all.reserve(images.size());
  for (const CaptionCase& image : images) all.push_back(score(image));
  return all;
}

}  // namespace modewise::metrics
