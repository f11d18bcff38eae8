#pragma once
// Vocabulary of captions: words and their ids.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::data {

/// Ids 0 … 3 are special tokens (padding, BOS, EOS, unknown), words follow. text::ptb_words splits captions.
class Vocabulary {
 public:
  static constexpr int64_t kPadding = 0, kBegin = 1, kEnd = 2, kUnknown = 3, kFirstWord = 4;

  Vocabulary() = default;
  /// `words` in the order of their ids. Data error, starting with `source`, for a duplicate or empty word.
  Vocabulary(std::vector<std::string> words, const std::string& source);

  /// Number of special tokens and words.
  int64_t size() const { return kFirstWord + static_cast<int64_t>(words_.size()); }
  const std::vector<std::string>& words() const { return words_; }
  /// The id of a word; kUnknown if it is not in the vocabulary.
  int64_t number(std::string_view word) const;
  std::vector<int64_t> numbers(std::span<const std::string> words) const;
  /// The word of an id, or "<unknown>"; not for other special tokens.
  std::string_view word(int64_t number) const;
  /// Words joined by spaces, up to EOS; padding and BOS are skipped.
  std::string text(std::span<const int64_t> numbers) const;

 private:
  std::vector<std::string> words_;
  std::map<std::string, int64_t, std::less<>> numbers_;
};

/// The words that occur at least `min_count` times in these captions, most frequent first, ties in byte
/// order.
Vocabulary vocabulary_of(std::span<const std::vector<std::string>> captions, int64_t min_count);

}  // namespace modewise::data
