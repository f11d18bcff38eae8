#pragma once
// PNG pictures (W3C PNG 3rd edition) by libpng: greys of 1, 2, 4, 8 and 16 bits, palettes, colours of 8 and
// 16 bits, with and without alpha, interlaced or not. 16 bits become 8 by rounding. Transparency is dropped:
// a pixel keeps the colour that the file has under it, as Pillow's `convert("RGB")` does. Palettes give three
// channels. Gamma and colour profiles are left alone; Exif's orientation is applied. Checksums are verified,
// also those of chunks that are passed over; what follows the end is not read.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "modewise/io/images/picture.h"

namespace modewise::io {

/// Whether the bytes begin as a PNG does.
bool is_png(std::span<const std::byte> bytes);

/// Interlaced pictures are decoded as a whole, so that too large ones are refused whatever size is wanted.
Image parse_png(std::span<const std::byte> bytes, const std::string& source,
                  const ImageClassificationOptions& options = {});
Image read_png(const std::filesystem::path& path, const ImageClassificationOptions& options = {});

/// Equal pictures give equal bytes. 8 bits a sample, not interlaced.
std::string format_png(const Image& image);
/// Written atomically.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace modewise::io
