#pragma once
// Index of texts that finds those which are prefixes of a given text. It stores sorted ids only; the common
// prefix of all candidates is compared at once, so that near misses of a few long texts are cheap.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace modewise::text {

class PrefixIndex {
 public:
  PrefixIndex() = default;

  /// `text_of(id)` is the non-empty text of an id; `visit` needs the same function.
  template <class TextOf>
  PrefixIndex(std::vector<int32_t> ids, TextOf&& text_of) : sorted_(std::move(ids)) {
    std::sort(sorted_.begin(), sorted_.end(), [&](int32_t a, int32_t b) { return text_of(a) < text_of(b); });
    for (size_t byte = 0; byte < 256; ++byte)
      first_bytes_[byte] = narrow({0, sorted_.size()}, 0, static_cast<unsigned char>(byte), text_of);
  }

  bool empty() const { return sorted_.empty(); }

  /// Calls `found(length, id)` for each text that is a prefix of `text`, the shortest first.
  template <class TextOf, class Found>
  void visit(std::string_view text, TextOf&& text_of, Found&& found) const {
    if (text.empty()) return;
    Range range = first_bytes_[static_cast<unsigned char>(text[0])];
    // Invariant: the texts of `range` begin with the first `depth` bytes of `text`.
    for (size_t depth = 1; range.begin < range.end;) {
      const std::string_view first = text_of(sorted_[range.begin]);
      if (first.size() == depth) {  // a text sorts before those of which it is a prefix
        found(depth, sorted_[range.begin++]);
        continue;
      }
      const std::string_view last = text_of(sorted_[range.end - 1]);
      const size_t shared = shared_length(first, last, depth);
      if (shared > depth) {
        if (text.substr(depth, shared - depth) != first.substr(depth, shared - depth)) return;
        depth = shared;
        continue;
      }
      if (depth == text.size()) return;
      range = narrow(range, depth, static_cast<unsigned char>(text[depth]), text_of);
      ++depth;
    }
  }

 private:
  struct Range {
    size_t begin = 0, end = 0;
  };

  static size_t shared_length(std::string_view a, std::string_view b, size_t from) {
    const size_t end = std::min(a.size(), b.size());
    return static_cast<size_t>(std::mismatch(a.begin() + static_cast<std::ptrdiff_t>(from),
                                             a.begin() + static_cast<std::ptrdiff_t>(end),
                                             b.begin() + static_cast<std::ptrdiff_t>(from))
                                   .first -
                               a.begin());
  }

  // The texts of `range` that continue with `byte`; all of them are equal up to `depth` and longer.
  template <class TextOf>
  Range narrow(Range range, size_t depth, unsigned char byte, TextOf&& text_of) const {
    const auto at = [&](int32_t id) { return static_cast<unsigned char>(text_of(id)[depth]); };
    const auto begin = sorted_.begin() + static_cast<std::ptrdiff_t>(range.begin);
    const auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(range.end);
    const auto low = std::partition_point(begin, end, [&](int32_t id) { return at(id) < byte; });
    const auto high = std::partition_point(low, end, [&](int32_t id) { return at(id) == byte; });
    return {static_cast<size_t>(low - sorted_.begin()), static_cast<size_t>(high - sorted_.begin())};
  }

  std::vector<int32_t> sorted_;
  std::array<Range, 256> first_bytes_;  // range of sorted_ for each first byte
};

}  // namespace modewise::text
