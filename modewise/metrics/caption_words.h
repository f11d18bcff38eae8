#pragma once
// Captions as integer word ids, the input of the caption metrics.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::metrics {

/// The words of a caption.
using Words = std::span<const int32_t>;

/// One image: the candidate caption, and at least one reference caption.
struct CaptionCase {
  Words candidate;
  std::vector<Words> references;
};

/// Assigns ids 0, 1, … to words in the order of first occurrence.
class WordNumbers {
 public:
  int32_t number(std::string_view word);
  std::vector<int32_t> numbers(std::span<const std::string> words);
  /// [number]
  const std::vector<std::string_view>& words() const { return words_; }

 private:
  std::map<std::string, int32_t, std::less<>> numbers_;
  std::vector<std::string_view> words_;  // views of the map's keys, which do not move
};

}  // namespace modewise::metrics
