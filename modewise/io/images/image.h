#pragma once
// 8-bit images in memory, and readers that detect the format (png.h, jpeg.h) by the first bytes of a file.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace modewise::io {

/// Rows from top to bottom: pixel (y, x) begins at byte (y · width + x) · channels. 1 channel: grey, 3: RGB.
struct Image {
  int64_t height = 0, width = 0, channels = 1;
  std::vector<uint8_t> pixels;

  bool operator==(const Image&) const = default;
};

/// Throws an internal error that begins with `name` unless sizes, channels and the number of pixels agree.
void require_pixels(const Image& image, const char* name);

/// Options of the readers. Decoding takes at most twice the file's size plus 64 MiB of memory: room for 20
/// million RGB pixels. A larger image is averaged down while it is decoded if the caller resizes it anyway,
/// and refused otherwise.
struct ImageReadOptions {
  /// The size to which the caller resizes; 0: no resizing. It only allows a too large image to be read at a
  /// reduced size; the result has any size.
  int64_t height = 0, width = 0;
  /// Reads too large images at full size.
  bool allow_size = false;
  /// Receives a remark on a damaged file that has all its pixels; nullptr: none wanted.
  std::string* remark = nullptr;
  /// Advice in the message on a refused image.
  const char* remedy = "--allow-size reads it anyway";
};

/// Whether the file has an image extension (.png, .jpg, .jpeg, .jpe, .jfif; case-insensitive).
bool named_as_image(const std::filesystem::path& path);
/// Decodes a PNG or JPEG. Throws data errors that name `source`, row and rule, as all image readers do;
/// read_image throws no_input if the file cannot be read.
Image parse_image(std::span<const std::byte> bytes, const std::string& source,
                  const ImageReadOptions& options = {});
Image read_image(const std::filesystem::path& path, const ImageReadOptions& options = {});

}  // namespace modewise::io
