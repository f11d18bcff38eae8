#pragma once
// Random variations of training pictures, drawn by counters: sample i of batch b under a seed is always
// varied alike.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "modewise/data/labelled_samples.h"
#include "modewise/data/image_classification/config.h"

namespace modewise::data {

/// Varies every picture of `batch` [B, H, W, C] in place: mirrored left to right with probability 1/2, then
/// moved by up to config.crop whole pixels along each axis, with `black` [C] (black_pixel()) behind it, which
/// is what padding and cropping at random comes to. `seed` and `number` (of the batch, through all epochs)
/// key the draws.
void augment(LabelledBatch& batch, const ImageAugmentConfig& config, const at::Tensor& black, uint64_t seed,
             uint64_t number);

}  // namespace modewise::data
