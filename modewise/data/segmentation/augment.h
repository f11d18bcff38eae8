#pragma once
// A window of a scene, and the random variations that training makes of it: shifted or resized cuts, mirrors
// and quarter turns, drawn by counters, so that window i of batch b under a seed is always varied alike.

#include <cstdint>
#include <vector>

#include "modewise/core/random.h"
#include "modewise/data/segmentation/config.h"

namespace modewise::data {

struct SceneWindow {
  int64_t times = 1, height = 0, width = 0, bands = 1;
  std::vector<float> image;     // [T, height, width, bands] scaled, 0 where not valid
  std::vector<uint8_t> valid;   // [T, height, width]
  std::vector<int16_t> labels;  // [height, width]: class, or ClassMap::ignored; empty without a mask

  SceneWindow() = default;
  /// Not valid anywhere, ignored everywhere.
  SceneWindow(int64_t times, int64_t height, int64_t width, int64_t bands, bool labelled);
};

/// A window of `side` × `side` pixels from `tile`: with config.crop = 1 a part of that size at a random
/// place, else a part of random area and shape resized to it (bilinear among valid neighbours; validity and
/// labels are the nearest pixel's); then mirrors and turns. A tile smaller than the window stands at a random
/// place in it, the rest is not valid and ignored. `place` tells the windows of a batch apart.
SceneWindow varied(const SceneWindow& tile, const SegmentationAugmentConfig& config, int64_t side,
                   const RandomStream& stream, uint64_t place);

}  // namespace modewise::data
