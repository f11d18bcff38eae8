#pragma once
// Pictures of another size.

#include <cstdint>

#include "modewise/io/images/picture.h"

namespace modewise::io {

/// What a pixel of the new picture is the mean of: along each axis the weight of a pixel at distance d (of
/// centres) from its own is max(0, 1 − d/s) for bilinear, and 1 where −s/2 < d ≤ s/2, else 0, for box; s is
/// the number of old pixels for a new one, at least 1. So shrinking takes every old pixel into account
/// (antialiasing, as Pillow's filters of these names do), and enlarging interpolates.
enum class ResizeFilter { bilinear, box };

/// A part of a picture, in pixels that need not be whole.
struct ImageBox {
  double top = 0, left = 0, height = 0, width = 0;
};

/// [height, width]. Computed in float64 along rows, then along columns, and rounded once.
Image resized(const Image& image, int64_t height, int64_t width,
                ResizeFilter filter = ResizeFilter::bilinear);
/// The same of what lies in `box`, which must lie in the picture; pixels around it count where the filter
/// reaches them.
Image resized(const Image& image, const ImageBox& box, int64_t height, int64_t width,
                ResizeFilter filter = ResizeFilter::bilinear);

/// The largest part of the picture in its middle that has the shape of height × width, resized to that: what
/// scaling the shorter side and cropping the centre gives, in one step.
Image fitted(const Image& image, int64_t height, int64_t width);

}  // namespace modewise::io
