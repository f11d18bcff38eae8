#pragma once
// Image augmentation: random flips and crops with counter-based random numbers, reproducible for sample i of
// batch b under a seed.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "modewise/data/image_classification/config.h"
#include "modewise/data/labelled_samples.h"

namespace modewise::data {

/// Augments the images of `batch` [B, H, W, C] in place: a horizontal flip with probability 1/2, then a shift
/// by up to config.crop whole pixels along each axis, filled with `black` [C] (black_pixel()): equivalent to
/// padding and random cropping. `seed` and `number` (of the batch, through all epochs) key the random
/// numbers.
void augment(LabelledBatch& batch, const ImageAugmentConfig& config, const at::Tensor& black, uint64_t seed,
             uint64_t number);

}  // namespace modewise::data
