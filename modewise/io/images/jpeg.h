#pragma once
// JPEG images (ITU-T T.81) by libjpeg-turbo: grey, YCbCr or RGB, and CMYK or YCCK, which are converted to RGB
// (stored inverted, as Adobe's programs write them; colour profiles are ignored); sequential and progressive.
// Exif orientation is applied. Warnings of libjpeg, such as truncated data, are errors, except those about
// bytes between segments and version numbers. A file without an end marker is read if it has all pixels
// (ImageReadOptions::remark). Bytes after the end are not read.

#include <cstddef>
#include <span>
#include <string>

#include "modewise/io/images/image.h"

namespace modewise::io {

/// Maximum number of scans: each scan of a progressive image takes a pass over the whole image.
inline constexpr int kMaxJpegScans = 100;

/// Whether the bytes begin with the JPEG signature.
bool is_jpeg(std::span<const std::byte> bytes);

/// A too large image is decoded at 1/2, 1/4 or 1/8 of its size (scaled DCT) and averaged down from there.
/// Images of several scans keep all their coefficients, which cannot be scaled.
Image parse_jpeg(std::span<const std::byte> bytes, const std::string& source,
                 const ImageReadOptions& options = {});

/// Sequential, standard Huffman tables, chroma subsampling 4:2:0. `quality` is libjpeg's, 1 to 100.
std::string format_jpeg(const Image& image, int quality);

}  // namespace modewise::io
