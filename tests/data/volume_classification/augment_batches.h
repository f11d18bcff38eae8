#pragma once
// Helpers for tests of volume augmentation: batches with distinct voxels, and the random numbers of a sample.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "modewise/core/random.h"
#include "modewise/data/volume_classification/augment.h"

namespace modewise::data {

/// B volumes of 6 × 6 × 6 voxels with different values.
inline LabelledBatch batch_of(int64_t samples, bool masked = false) {
  LabelledBatch batch;
  batch.values = (at::arange(samples * 216, at::kFloat) + 1).view({samples, 6, 6, 6, 1});
  batch.labels = at::zeros({samples}, at::kLong);
  if (masked) {
    batch.valid = at::ones({samples, 6, 6, 6}, at::kBool);
    batch.valid.narrow(1, 4, 2).fill_(false);
    batch.values.narrow(1, 4, 2).zero_();
  }
  return batch;
}

/// Volumes of 9 × 11 × 13 voxels whose three channels are a voxel's coordinates + 100, so that 0 does not
/// occur.
inline LabelledBatch places(int64_t samples) {
  const at::Tensor out = at::empty({samples, 9, 11, 13, 3});
  out.select(-1, 0).copy_(at::arange(9, at::kFloat).view({9, 1, 1}) + 100);
  out.select(-1, 1).copy_(at::arange(11, at::kFloat).view({11, 1}) + 100);
  out.select(-1, 2).copy_(at::arange(13, at::kFloat) + 100);
  return {out, {}, at::zeros({samples}, at::kLong)};
}

/// Random numbers of one sample, in order.
struct DrawsOf {
  RandomStream stream;
  uint64_t next;
  double operator()() { return stream.uniform(next++); }
  double within(double maximum) { return maximum * (2 * (*this)() - 1); }
};

}  // namespace modewise::data
