#pragma once
// Captions as the metrics of captions see them: words that are numbers, equal for equal words.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::metrics {

/// The words of a caption.
using Words = std::span<const int32_t>;

/// One image: the caption that is judged, and those that people wrote, one at least.
struct CaptionCase {
  Words candidate;
  std::vector<Words> references;
};

/// Gives words their numbers, 0, 1, … in the order in which they come.
class WordNumbers {
 public:
  int32_t number(std::string_view word);
  std::vector<int32_t> numbers(std::span<const std::string> words);
  /// [number]
  const std::vector<std::string_view>& words() const { return words_; }

 private:
  std::map<std::string, int32_t, std::less<>> numbers_;
  std::vector<std::string_view> words_;  // of the map's keys, which stay where they are
};

}  // namespace modewise::metrics
