#pragma once
// Image resizing with antialiasing.

#include <cstdint>

#include "modewise/io/images/image.h"

namespace modewise::io {

/// Weights of the mean that gives a new pixel: along each axis an old pixel at distance d (of centres) has
/// weight max(0, 1 − d/s) for bilinear, and 1 where −s/2 < d ≤ s/2, else 0, for box; s is the number of old
/// pixels per new one, at least 1. So shrinking uses every old pixel (antialiasing, as Pillow's filters of
/// these names), and enlarging interpolates.
enum class ResizeFilter { bilinear, box };

/// A box in an image, in fractional pixels.
struct ImageBox {
  double top = 0, left = 0, height = 0, width = 0;
};

/// Resizes to [height, width]. Computed in float64 along rows, then along columns, and rounded once.
Image resized(const Image& image, int64_t height, int64_t width,
              ResizeFilter filter = ResizeFilter::bilinear);
/// Resizes the part in `box`, which must lie in the image; the filter also reads pixels around it.
Image resized(const Image& image, const ImageBox& box, int64_t height, int64_t width,
              ResizeFilter filter = ResizeFilter::bilinear);

/// Resizes the largest centred box with the aspect ratio of height × width: resizing the shorter side and
/// centre crop in one step.
Image fitted(const Image& image, int64_t height, int64_t width);

}  // namespace modewise::io
