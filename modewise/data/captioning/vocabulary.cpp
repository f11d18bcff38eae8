#include "modewise/data/captioning/vocabulary.h"

#include <algorithm>

#include "modewise/core/error.h"

namespace modewise::data {

Vocabulary::Vocabulary(std::vector<std::string> words, const std::string& source) : words_(std::move(words)) {
  for (size_t i = 0; i < words_.size(); ++i) {
    require(!words_[i].empty(), ErrorKind::data, "{}: words[{}] is empty", source, i);
    const bool is_new = numbers_.emplace(words_[i], kFirstWord + static_cast<int64_t>(i)).second;
    require(is_new, ErrorKind::data, "{}: words[{}]: duplicate word '{}'", source, i, words_[i]);
  }
}

int64_t Vocabulary::number(std::string_view word) const {
  const auto found = numbers_.find(word);
  return found == numbers_.end() ? kUnknown : found->second;
}

std::vector<int64_t> Vocabulary::numbers(std::span<const std::string> words) const {
  std::vector<int64_t> numbers;
  for (const std::string& word : words) numbers.push_back(number(word));
  return numbers;
}

std::string_view Vocabulary::word(int64_t number) const {
  if (number == kUnknown) return "<unknown>";
  require(number >= kFirstWord && number < size(), ErrorKind::internal, "{} is not the id of a word", number);
  return words_[static_cast<size_t>(number - kFirstWord)];
}

std::string Vocabulary::text(std::span<const int64_t> numbers) const {
  std::string text;
  for (const int64_t number : numbers) {
    if (number == kEnd) break;
    if (number == kPadding || number == kBegin) continue;
    if (!text.empty()) text += ' ';
    text += word(number);
  }
  return text;
}

Vocabulary vocabulary_of(std::span<const std::vector<std::string>> captions, int64_t min_count) {
  std::map<std::string_view, int64_t> counts;
  for (const auto& caption : captions)
    for (const std::string& word : caption) ++counts[word];
  std::vector<std::pair<int64_t, std::string_view>> order;
  for (const auto& [word, count] : counts)
    if (count >= min_count) order.emplace_back(-count, word);
  std::sort(order.begin(), order.end());
  std::vector<std::string> words;
  for (const auto& [count, word] : order) words.emplace_back(word);
  return {std::move(words), "the vocabulary"};
}

}  // namespace modewise::data
