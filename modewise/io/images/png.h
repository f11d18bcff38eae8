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

#include "modewise/io/images/image.h"

namespace modewise::io {

/// Whether the bytes begin with the PNG signature.
bool is_png(std::span<const std::byte> bytes);

/// Interlaced images are decoded as a whole: too large ones are refused for every requested size.
Image parse_png(std::span<const std::byte> bytes, const std::string& source,
                const ImageReadOptions& options = {});

/// Grey or RGB, as the image.
std::string format_png(const Image& image);
/// A palette image: `indices`, of one channel, are numbers of the colours of `palette`, three bytes (RGB)
/// each, at most 256. Colour `transparent` is transparent; -1: none. Throws an internal error unless all of
/// this holds.
std::string format_palette_png(const Image& indices, std::span<const uint8_t> palette, int transparent = -1);

}  // namespace modewise::io
