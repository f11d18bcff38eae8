#pragma once
// Helpers for tests of image sets.

#include <gmock/gmock.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/data/image_classification/images.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/io/images/jpeg.h"
#include "modewise/io/images/png.h"
#include "tests/data/scratch.h"

namespace modewise::data {

/// One colour with some structure, so that images and pixels differ.
inline io::Image tinted(int64_t height, int64_t width, int64_t channels, int tint) {
  io::Image image{height, width, channels, {}};
  for (int64_t i = 0; i < height * width * channels; ++i)
    image.pixels.push_back(static_cast<uint8_t>((tint * 37 + i * 5) % 256));
  return image;
}

/// A record of CIFAR-10: its label, and pixels that are `base` + channel.
inline std::string cifar_record(int label, int base) {
  std::string text(1, static_cast<char>(label));
  for (int c = 0; c < 3; ++c) text += std::string(1024, static_cast<char>(base + c));
  return text;
}

class Images : public testing::Test {
 protected:
  void write_png(const std::string& name, const io::Image& image) {
    scratch_.write(name, io::format_png(image));
  }
  std::string root() const { return scratch_.path().string(); }
  ImageConfig config_of(const std::string& path) const {
    ImageConfig config;
    config.path = path;
    return config;
  }
  static std::string refusal(const ImageConfig& config, ErrorKind kind = ErrorKind::data) {
    return error_of(kind, [&] { load_images(config); });
  }
  ScratchFolder scratch_;
};

}  // namespace modewise::data
