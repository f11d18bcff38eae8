#pragma once
// Random variations of training volumes, drawn by counters: sample i of batch b under a seed is always varied
// alike.

#include <cstdint>

#include "modewise/data/volume_classification/config.h"
#include "modewise/data/volume_classification/volumes.h"

namespace modewise::data {

/// Varies every sample of `batch` in place (values and masks). Mirrors, quarter turns and whole shifts move
/// voxels exactly; turns by other angles and changes of size take the nearest voxel or interpolate linearly
/// between the eight neighbours, with zeros (missing, under a mask) beyond the edge. `seed` and `number` (of
/// the batch, through all epochs) key the draws.
void augment(LabelledBatch& batch, const AugmentConfig& config, uint64_t seed, uint64_t number);

/// What evaluation does of it: MedMNIST's shape_transform multiplies by 0.5.
void transform_for_evaluation(LabelledBatch& batch, const AugmentConfig& config);

/// The batch mirrored along the axes whose bits are set in `mirror` (bit i: axes[i]).
LabelledBatch flipped(const LabelledBatch& batch, const std::vector<int64_t>& axes, uint64_t flip);

}  // namespace modewise::data
