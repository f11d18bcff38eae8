#pragma once
// How the pixels of an image become a model's input: which bands, which values mean nothing, which scale.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/data/segmentation/augment.h"
#include "modewise/data/segmentation/raster.h"

namespace modewise::data {

/// (value − mean) / deviation a band.
struct BandScale {
  std::vector<double> mean, stddev;
};

struct PixelRule {
  std::vector<int64_t> bands;  // of the file, in the order the model gets them
  std::string nodata = "auto";
  BandScale scale;
};

/// Reads the window of `raster` (it may reach beyond it), scaled; pixels with a NaN, an infinity or the
/// nodata value in any band, and those beyond the image, are not valid.
SceneWindow read_window(const Raster& raster, const PixelRect& window, const PixelRule& rule);

/// The area in bands of rows, so that not too many values are read at once.
std::vector<PixelRect> in_parts(const PixelRect& area, int64_t values_a_pixel);

}  // namespace modewise::data
