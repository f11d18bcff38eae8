#pragma once
// Assembly of an image from decoded rows: averages rows down on the fly and applies the Exif orientation, so
// that only the image and one row are in memory.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "modewise/io/images/image.h"

namespace modewise::io {

/// Size of the image as stored, before the Exif orientation is applied.
struct StoredSize {
  int64_t height = 0, width = 0, channels = 1;
};

/// Memory of decoding: the file's size and what the decoder keeps besides the image.
struct DecodingMemory {
  uint64_t file_bytes = 0;
  uint64_t beside = 0;
  bool scalable = true;   // whether rows can be averaged down on the fly
  const char* note = "";  // reason for memory beyond the pixels, for the message
};

/// The factor by which both sides must be divided to stay within the memory limit: 1 if the image fits.
/// Throws a data error that names the option if `options` do not allow another size.
int64_t choose_reduction(const StoredSize& stored, const DecodingMemory& memory,
                         const ImageReadOptions& options, const std::string& source);

/// Twice the file's size plus 64 MiB, minus the decoders' own memory.
uint64_t decoding_limit(uint64_t file_bytes);

class ImageRows {
 public:
  /// Blocks of `reduction` × `reduction` pixels (fewer at the right and bottom) are replaced by their rounded
  /// mean.
  ImageRows(const StoredSize& stored, int64_t reduction, int orientation);

  /// The next row [width, channels]; there are `stored.height` of them.
  void add(std::span<const uint8_t> row);
  Image take() { return std::move(image_); }

 private:
  void add_sums(std::span<const uint8_t> row);
  void put(const uint8_t* row);

  StoredSize stored_;
  int64_t reduction_, height_, width_;         // of the reduced image, before the orientation
  int64_t first_ = 0, down_ = 0, across_ = 0;  // pixel (y, x) goes to first + y · down + x · across
  int64_t added_ = 0, kept_ = 0;
  std::vector<uint32_t> sums_;
  std::vector<uint8_t> means_;
  Image image_;
};

}  // namespace modewise::io
