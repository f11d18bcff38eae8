#pragma once
// Exif orientation of an image.

#include <cstddef>
#include <span>

namespace modewise::io {

/// The orientation, 1 to 8, in the first directory of a block of Exif data that begins with "II" or "MM" (tag
/// 274; Exif 2.32, 4.6.4). 1 (upright) if the block is damaged or has none: metadata never makes an image
/// invalid.
int exif_orientation(std::span<const std::byte> block);

}  // namespace modewise::io
