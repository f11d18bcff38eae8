#pragma once
// Invariants of every image that is read, in any format.

#include <algorithm>

#include "modewise/core/file.h"
#include "modewise/io/images/image_resize.h"
#include "modewise/io/images/png.h"
#include "tests/fuzz/fuzz.h"

namespace modewise::io {

inline void expect_image(const Image& image) {
  expect(image.height > 0 && image.width > 0 && (image.channels == 1 || image.channels == 3));
  expect(std::ssize(image.pixels) == image.height * image.width * image.channels);
  if (image.pixels.size() > 10000) return;
  const std::string written = format_png(image);
  expect(parse_png(as_bytes(written), "written") == image);
  // A mean lies between the minimum and maximum of its values.
  const Image small = fitted(image, 3, 2);
  expect(std::ranges::max(small.pixels) <= std::ranges::max(image.pixels));
  expect(std::ranges::min(small.pixels) >= std::ranges::min(image.pixels));
}

}  // namespace modewise::io
