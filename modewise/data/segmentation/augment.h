#pragma once
// Segmentation augmentation: random crops, resizing, flips and 90° rotations of windows, with counter-based
// random numbers, reproducible for window i of batch b under a seed.

#include <cstdint>
#include <vector>

#include "modewise/core/random.h"
#include "modewise/data/segmentation/config.h"

namespace modewise::data {

struct SceneWindow {
  int64_t times = 1, height = 0, width = 0, bands = 1;
  std::vector<float> image;     // [T, height, width, bands] scaled, 0 where invalid
  std::vector<uint8_t> valid;   // [T, height, width]
  std::vector<int16_t> labels;  // [height, width]: class index or ClassMap::ignored; empty without a mask

  SceneWindow() = default;
  /// An empty window: all pixels invalid and ignored.
  SceneWindow(int64_t times, int64_t height, int64_t width, int64_t bands, bool labelled);
};

/// An augmented window of `side` × `side` pixels from `tile`: with config.crop = 1 a random crop of that
/// size, else a crop of random area and aspect ratio, resized (bilinear among valid neighbours; nearest for
/// validity and labels); then flips and rotations. A tile smaller than the window is put at a random
/// position, the rest is invalid and ignored. `place` is the index of the window in its batch.
SceneWindow augmented(const SceneWindow& tile, const SegmentationAugmentConfig& config, int64_t side,
                      const RandomStream& stream, uint64_t place);

}  // namespace modewise::data
