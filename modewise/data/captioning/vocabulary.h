#pragma once
// The words that captions are made of, and their numbers.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::data {

/// Words from 4 on, behind the marks. What is said of captions as words: text::ptb_words.
class Vocabulary {
 public:
  static constexpr int64_t kPadding = 0, kBegin = 1, kEnd = 2, kUnknown = 3, kFirstWord = 4;

  Vocabulary() = default;
  /// `words` in the order of their numbers. Data error that begins with `source` for one that stands twice or
  /// is empty.
  Vocabulary(std::vector<std::string> words, const std::string& source);

  /// Marks and words.
  int64_t size() const { return kFirstWord + static_cast<int64_t>(words_.size()); }
  const std::vector<std::string>& words() const { return words_; }
  /// kUnknown for a word that it does not have.
  int64_t number(std::string_view word) const;
  std::vector<int64_t> numbers(std::span<const std::string> words) const;
  /// A word or "<unknown>"; marks are not asked for.
  std::string_view word(int64_t number) const;
  /// Words with spaces between them, up to the end mark; padding and begin marks are left out.
  std::string text(std::span<const int64_t> numbers) const;

 private:
  std::vector<std::string> words_;
  std::map<std::string, int64_t, std::less<>> numbers_;
};

/// The words that stand `min_count` times at least in these captions, the most frequent first, equally
/// frequent ones in the order of their bytes.
Vocabulary vocabulary_of(std::span<const std::vector<std::string>> captions, int64_t min_count);

}  // namespace modewise::data
