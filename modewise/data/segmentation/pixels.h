#pragma once
// Conversion of image pixels to model input: bands, nodata values and scale.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/data/segmentation/augment.h"
#include "modewise/data/segmentation/raster.h"

namespace modewise::data {

/// (value − mean) / std per band.
struct BandScale {
  std::vector<double> mean, stddev;
};

struct PixelRule {
  std::vector<int64_t> bands;  // bands of the file, in the order of the model input
  std::string nodata = "auto";
  BandScale scale;
};

/// Reads a scaled window of `raster`, which may exceed the image; pixels outside, or with a NaN, an infinity
/// or the nodata value in any band, are invalid.
SceneWindow read_window(const Raster& raster, const PixelRect& window, const PixelRule& rule);

/// Warnings about an image that a run reads by `rule`: bands whose values plainly have another scale than
/// those of its training images, and fill values that are not marked as nodata. Reads about 64 million
/// values.
std::vector<std::string> value_warnings(const Raster& image, const PixelRule& rule);

/// Splits an area into strips of rows, to limit the values read at once.
std::vector<PixelRect> in_parts(const PixelRect& area, int64_t values_a_pixel);

}  // namespace modewise::data
