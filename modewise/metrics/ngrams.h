#pragma once
// N-gram ids (n = 1 … 4) for BLEU and CIDEr.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "modewise/metrics/caption_words.h"

namespace modewise::metrics {

constexpr size_t kLongestNgram = 4;  // words

/// Assigns ids 0, 1, … to n-grams in the order of first occurrence. An n-gram is its (n−1)-gram prefix and
/// its last word.
class NgramNumbers {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  /// The id of `prefix` (kNone: empty) plus `word`, assigned if new.
  uint32_t number(uint32_t prefix, int32_t word);
  /// The id, or kNone.
  uint32_t find(uint32_t prefix, int32_t word) const;
  size_t size() const { return ngrams_.size(); }
  /// Removes ids from `first` on for which `keeps(id)` is false; later ids move down.
  template <class Keeps>
  void filter(size_t first, Keeps&& keeps) {
    std::vector<Ngram> kept(ngrams_.begin(), ngrams_.begin() + static_cast<std::ptrdiff_t>(first));
    for (size_t i = first; i < ngrams_.size(); ++i)
      if (keeps(i)) kept.push_back(ngrams_[i]);
    ngrams_ = std::move(kept);
    number_again();
  }

 private:
  struct Ngram {
    uint32_t prefix;
    int32_t word;
  };
  size_t slot_of(uint32_t prefix, int32_t word) const;
  void number_again();

  std::vector<Ngram> ngrams_;
  std::vector<uint32_t> slots_;  // id + 1; 0: free. Size a power of two, at least a quarter free.
};

/// Calls visit(n, ngram) for each n-gram of `words`, n from 1 on, with ids from `next(prefix, word)`;
/// extensions of unknown n-grams (kNone) are skipped.
template <class Next, class Visit>
void for_each_ngram(Words words, Next&& next, Visit&& visit) {
  for (size_t begin = 0; begin < words.size(); ++begin) {
    uint32_t ngram = NgramNumbers::kNone;
    for (size_t n = 1; n <= kLongestNgram && begin + n <= words.size(); ++n) {
      ngram = next(ngram, words[begin + n - 1]);
      if (ngram == NgramNumbers::kNone) break;
      visit(n, ngram);
    }
  }
}

}  // namespace modewise::metrics
