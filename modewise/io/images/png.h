#pragma once
// PNG images (W3C PNG 3rd edition) by libpng. Read are grey of 1, 2, 4, 8 and 16 bits, palettes, RGB of 8 and
// 16 bits, with and without alpha, interlaced or not. 16 bits are rounded to 8. Alpha is dropped: a pixel
// keeps its colour, as in Pillow's `convert("RGB")`. Palettes give three channels. Gamma and colour profiles
// are ignored; Exif orientation is applied. The checksums of header, palette and pixels are verified;
// other chunks with a wrong one are skipped. Bytes after the end are not read. Written are 8 bits per sample,
// not interlaced, without filters; equal images give equal bytes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/images/image.h"

namespace modewise::io {

/// Whether the bytes begin with the PNG signature.
bool is_png(std::span<const std::byte> bytes);

/// Interlaced images are decoded as a whole: too large ones are refused for every requested size.
Image parse_png(std::span<const std::byte> bytes, const std::string& source,
                const ImageReadOptions& options = {});

/// The pixels of a PNG as numbers, rows from top to bottom: of one byte, or of two for 16 bits, in the order
/// of this machine. No orientation is applied.
struct PngNumbers {
  int64_t height = 0, width = 0, channels = 1;
  int64_t number_bytes = 1;
  bool alpha = false;  // the last channel
  std::vector<uint8_t> bytes;
};
enum class PngPalette : uint8_t {
  colors,   // three channels, and alpha if a colour is transparent
  indices,  // one channel; grey of 1, 2 and 4 bits is not scaled to 8 either
};
/// Takes at most twice the file's size plus 64 MiB of memory; throws a data error for larger images.
PngNumbers parse_png_numbers(std::span<const std::byte> bytes, const std::string& source, PngPalette palette);

/// Grey or RGB, as the image.
std::string format_png(const Image& image);
/// A palette image: `indices`, of one channel, are numbers of the colours of `palette`, three bytes (RGB)
/// each, at most 256. Colour `transparent` is transparent; -1: none. Throws an internal error unless all of
/// this holds.
std::string format_palette_png(const Image& indices, std::span<const uint8_t> palette, int transparent = -1);

}  // namespace modewise::io
