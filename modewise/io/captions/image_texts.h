#pragma once
// Texts with image ids: captions, or file names.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::io {

/// Texts with image ids, in file order, all in one string.
class ImageTexts {
 public:
  size_t size() const { return images_.size(); }
  int64_t image(size_t i) const { return images_[i]; }
  std::string_view text(size_t i) const;
  /// Indices of the texts of `image`, in file order.
  std::span<const uint32_t> of(int64_t image) const;

  // For readers: reserve (upper bounds), add, sort.
  void reserve(size_t count, size_t bytes);
  void add(int64_t image, std::string_view text);
  void sort();

 private:
  std::vector<int64_t> images_;
  std::vector<size_t> ends_;  // of each text
  std::string texts_;
  std::vector<uint32_t> order_;  // sorted by image
};

}  // namespace modewise::io
