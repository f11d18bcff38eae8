#pragma once
// Pictures of 8 bits a sample, and how much of a large one is read. The formats have a header each (png.h,
// jpeg.h); here the first bytes of a file say which one it is.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace modewise::io {

/// Rows from top to bottom: pixel (y, x) begins at byte (y · width + x) · channels. One channel is grey,
/// three are red, green and blue.
struct Image {
  int64_t height = 0, width = 0, channels = 1;
  std::vector<uint8_t> pixels;

  bool operator==(const Image&) const = default;
};

/// Throws an internal error that begins with `name` unless sizes, channels and the number of pixels agree.
void require_pixels(const Image& image, const char* name);

/// Decoding takes at most twice the file's size plus 64 MiB of memory: room for 20 million pixels of three
/// channels. A picture that needs more is averaged down while it is decoded where the caller wants another
/// size in the end, and refused otherwise.
struct ImageClassificationOptions {
  /// The size that the picture gets later; 0: the size it has. It is given only so that a picture that is too
  /// large may be read in parts of its size; what comes back has any size.
  int64_t height = 0, width = 0;
  /// Reads what is too large all the same.
  bool allow_size = false;
};

/// Whether a file's name ends like one of these formats' (.png, .jpg, .jpeg), in letters of any case.
bool named_as_image(const std::filesystem::path& path);
/// A PNG or a JPEG. Throws data errors that name `source`, the row and the rule, as all readers of pictures
/// do; with `read_picture`, no_input where the file cannot be read.
Image parse_image(std::span<const std::byte> bytes, const std::string& source,
                      const ImageClassificationOptions& options = {});
Image read_image(const std::filesystem::path& path, const ImageClassificationOptions& options = {});

}  // namespace modewise::io
