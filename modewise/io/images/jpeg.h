#pragma once
// JPEG pictures (ITU-T T.81) by libjpeg-turbo: greys, colours as YCbCr or RGB, four inks as CMYK or YCCK,
// which become red, green and blue (stored inverted, as Adobe's programs and those after them write them;
// colour profiles are left alone); sequential and progressive. Exif's orientation is applied. What libjpeg
// would only warn of, such as data that end or break off, is an error, but for bytes between segments and
// version numbers. What follows the end is not read.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "modewise/io/images/picture.h"

namespace modewise::io {

/// A progressive picture is decoded a scan at a time over all of it: files of more scans than this are
/// refused.
inline constexpr int kMaxJpegScans = 100;

/// Whether the bytes begin as a JPEG does.
bool is_jpeg(std::span<const std::byte> bytes);

/// A picture that is too large is decoded at 1/2, 1/4 or 1/8 of its size by the cosine transform itself, and
/// averaged down from there. Pictures of several scans hold all their coefficients, and those cannot be
/// scaled.
Image parse_jpeg(std::span<const std::byte> bytes, const std::string& source,
                   const ImageClassificationOptions& options = {});
Image read_jpeg(const std::filesystem::path& path, const ImageClassificationOptions& options = {});

/// Sequential, Huffman tables of the standard, colours at half the resolution along both axes (4:2:0).
/// `quality` is libjpeg's, 1 to 100.
std::string format_jpeg(const Image& image, int quality);

}  // namespace modewise::io
