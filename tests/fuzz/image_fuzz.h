#pragma once
// What holds for every picture that is read, whatever its format.

#include <algorithm>

#include "modewise/core/file.h"
#include "modewise/io/images/image_resize.h"
#include "modewise/io/images/png.h"
#include "tests/fuzz/fuzz.h"

namespace modewise::io {

inline void expect_picture(const Image& picture) {
  expect(picture.height > 0 && picture.width > 0 && (picture.channels == 1 || picture.channels == 3));
  expect(std::ssize(picture.pixels) == picture.height * picture.width * picture.channels);
  if (picture.pixels.size() > 10000) return;
  const std::string written = format_png(picture);
  expect(parse_png(as_bytes(written), "written") == picture);
  // A mean lies between what it is the mean of.
  const Image small = fitted(picture, 3, 2);
  expect(std::ranges::max(small.pixels) <= std::ranges::max(picture.pixels));
  expect(std::ranges::min(small.pixels) >= std::ranges::min(picture.pixels));
}

}  // namespace modewise::io
