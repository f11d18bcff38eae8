#pragma once
// Volume augmentation with counter-based random numbers, reproducible for sample i of batch b under a seed.

#include <cstdint>

#include "modewise/data/volume_classification/config.h"
#include "modewise/data/volume_classification/volumes.h"

namespace modewise::data {

/// Augments every sample of `batch` in place (values and masks). Flips, 90° rotations and whole shifts move
/// voxels exactly; other rotations and scaling use nearest or trilinear interpolation, with zeros (missing,
/// under a mask) beyond the edge. `seed` and `number` (of the batch, through all epochs) key the random
/// numbers.
void augment(LabelledBatch& batch, const AugmentConfig& config, uint64_t seed, uint64_t number);

/// The transform for evaluation: MedMNIST's shape_transform multiplies by 0.5.
void transform_for_evaluation(LabelledBatch& batch, const AugmentConfig& config);

/// The batch flipped along the axes whose bits are set in `flip` (bit i: axes[i]).
LabelledBatch flipped(const LabelledBatch& batch, const std::vector<int64_t>& axes, uint64_t flip);

}  // namespace modewise::data
