#pragma once
// Sequences of one to four words, numbered: what BLEU and CIDEr count.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "modewise/metrics/caption_words.h"

namespace modewise::metrics {

constexpr size_t kLongestNgram = 4;  // words

/// Numbers n-grams 0, 1, … in the order in which they come: an n-gram is the one before its last word, and
/// that word.
class NgramNumbers {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  /// The number of `prefix` (kNone: of nothing) and `word`, new when it has none.
  uint32_t number(uint32_t prefix, int32_t word);
  /// kNone when it has none.
  uint32_t find(uint32_t prefix, int32_t word) const;
  size_t size() const { return ngrams_.size(); }
  /// Forgets those from number `first` on for which `keeps(number)` is false; the others after them move up.
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
  std::vector<uint32_t> summary_tokens_;  // number + 1; 0: free. A power of two of them, a quarter free at least.
};

/// visit(n, ngram) for each n-gram of `words`, n from 1 on, numbered by `next(prefix, word)`; those that go
/// on from one that `next` does not know (kNone) are left out.
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
