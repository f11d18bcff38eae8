#include "modewise/metrics/caption_words.h"

namespace modewise::metrics {

int32_t WordNumbers::number(std::string_view word) {
  const auto known = numbers_.find(word);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<int32_t>(words_.size());
  const auto added = numbers_.emplace(word, number).first;
  words_.push_back(added->first);
  return number;
}

std::vector<int32_t> WordNumbers::numbers(std::span<const std::string> words) {
  std::vector<int32_t> all;
  all.reserve(words.size());
  for (const std::string& word : words) all.push_back(number(word));
  return all;
}

}  // namespace modewise::metrics
