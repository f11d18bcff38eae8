#include "modewise/io/captions/image_texts.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace modewise::io {

std::string_view ImageTexts::text(size_t i) const {
  const size_t begin = i > 0 ? ends_[i - 1] : 0;
  return std::string_view(texts_).substr(begin, ends_[i] - begin);
}

std::span<const uint32_t> ImageTexts::of(int64_t image) const {
  const auto first = std::lower_bound(order_.begin(), order_.end(), image,
                                      [&](uint32_t i, int64_t wanted) { return images_[i] < wanted; });
  const auto last = std::upper_bound(first, order_.end(), image,
                                     [&](int64_t wanted, uint32_t i) { return wanted < images_[i]; });
  return {first, last};
}

void ImageTexts::reserve(size_t count, size_t bytes) {
  images_.reserve(count);
  ends_.reserve(count);
  order_.reserve(count);
  texts_.reserve(bytes);
}

void ImageTexts::add(int64_t image, std::string_view text) {
  images_.push_back(image);
  texts_ += text;
  ends_.push_back(texts_.size());
}

void ImageTexts::sort() {
  order_.resize(size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::ranges::sort(order_, {}, [&](uint32_t i) { return std::pair(images_[i], i); });
}

}  // namespace modewise::io
