#pragma once
// The one thing of a picture's Exif data that changes its pixels: how the camera was held.

#include <cstddef>
#include <span>

namespace modewise::io {

/// The orientation, 1 to 8, that a block of Exif data (from its "II" or "MM" on) declares in its first
/// directory (tag 274; Exif 2.32, 4.6.4). 1, which is upright, where the block is broken or says nothing:
/// what describes a picture is no reason to refuse it.
int exif_orientation(std::span<const std::byte> block);

}  // namespace modewise::io
