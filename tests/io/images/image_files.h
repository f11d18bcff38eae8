#pragma once
// Image files for tests: frozen ones, and a PNG builder that can break each rule separately.

#include <zlib.h>

#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/images/image.h"
#include "tests/io/compress.h"
#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {

struct ImageCase {
  std::string name, file;
  Image image;
};

inline std::vector<uint8_t> pixels_from_hex(const nlohmann::json& hex) {
  const std::vector<std::byte> bytes = from_hex(hex);
  const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
  return {begin, begin + bytes.size()};
}

inline Image image_of(const nlohmann::json& shape, const nlohmann::json& pixels) {
  return {shape[0], shape[1], shape[2], pixels_from_hex(pixels)};
}

/// Images of png_jpeg.json: "png" or "jpeg".
inline std::vector<ImageCase> frozen_images(const std::string& format) {
  std::vector<ImageCase> cases;
  const auto vectors = load_vectors("png_jpeg.json");
  for (const auto& entry : vectors[format])
    cases.push_back(
        {entry["name"], to_text(from_hex(entry["file"])), image_of(entry["shape"], entry["pixels"])});
  return cases;
}

inline std::string frozen_file(const std::string& format, const std::string& name) {
  for (const ImageCase& test : frozen_images(format))
    if (test.name == name) return test.file;
  ADD_FAILURE() << "no case " << name;
  return "";
}

/// Pseudo-random values.
inline Image speckled(int64_t height, int64_t width, int64_t channels) {
  Image image{height, width, channels, {}};
  image.pixels.resize(static_cast<size_t>(height * width * channels));
  uint32_t state = 12345;
  for (uint8_t& value : image.pixels) {
    state = state * 1664525 + 1013904223;
    value = static_cast<uint8_t>(state >> 24);
  }
  return image;
}

/// Smooth values, which JPEG preserves.
inline Image ramp(int64_t height, int64_t width, int64_t channels) {
  Image image{height, width, channels, {}};
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < channels; ++c)
        image.pixels.push_back(static_cast<uint8_t>((y + 2 * x) * 255 / (height + 2 * width) / (c + 1)));
  return image;
}

inline std::string big_endian_text(uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

inline std::string png_chunk(std::string_view type, std::string_view content) {
  const std::string body = std::string(type) + std::string(content);
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian_text(static_cast<uint32_t>(content.size())) + body +
         big_endian_text(static_cast<uint32_t>(sum));
}

struct PngBuilder {
  uint32_t width = 3, height = 2;
  uint8_t depth = 8, color_type = 2, compression = 0, filter = 0, interlace = 0;
  std::string before{}, rows = std::string(20, '\0'), after{}, end = png_chunk("IEND", "");

  std::string text() const {
    std::string header = big_endian_text(width) + big_endian_text(height);
    for (const uint8_t value : {depth, color_type, compression, filter, interlace})
      header += static_cast<char>(value);
    return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + before + png_chunk("IDAT", zlib_of(rows)) +
           after + end;
  }
};

}  // namespace modewise::io
