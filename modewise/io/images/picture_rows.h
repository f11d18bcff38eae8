#pragma once
// How decoded rows become a picture: averaged down while they come, and put where Exif's orientation wants
// them, so that nothing but the picture and one row is held.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "modewise/io/images/picture.h"

namespace modewise::io {

/// How a file stores its picture, before it is turned upright.
struct StoredSize {
  int64_t height = 0, width = 0, channels = 1;
};

/// The memory that decoding may take, and what a format holds beside the picture.
struct DecodingMemory {
  uint64_t file_bytes = 0;
  uint64_t beside = 0;
  bool scalable = true;   // whether rows can be averaged down while they come
  const char* note = "";  // what makes it need more than its pixels, for the message
};

/// By how much both sides are to be divided so that decoding keeps to its memory: 1 where nothing is too
/// large. Throws the data error that names the option where `options` do not allow another size.
int64_t choose_reduction(const StoredSize& stored, const DecodingMemory& memory,
                         const ImageClassificationOptions& options, const std::string& source);

/// Twice the file's size and 64 MiB, less what decoders need for themselves.
uint64_t decoding_limit(uint64_t file_bytes);

class ImageRows {
 public:
  /// Blocks of `reduction` × `reduction` pixels (fewer at the right and the bottom) become their mean,
  /// rounded.
  ImageRows(const StoredSize& stored, int64_t reduction, int orientation);

  /// The next row [width, channels]; there are `stored.height` of them.
  void add(std::span<const uint8_t> row);
  Image take() { return std::move(image_); }

 private:
  void add_sums(std::span<const uint8_t> row);
  void put(const uint8_t* row);

  StoredSize stored_;
  int64_t reduction_, height_, width_;         // of what is kept, before it is turned
  int64_t first_ = 0, down_ = 0, across_ = 0;  // pixel (y, x) goes to first + y · down + x · across
  int64_t added_ = 0, kept_ = 0;
  std::vector<uint32_t> sums_;
  std::vector<uint8_t> means_;
  Image image_;
};

}  // namespace modewise::io
