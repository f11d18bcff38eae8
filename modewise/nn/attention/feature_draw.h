#pragma once
// Random features of a linear attention layer: drawn once, saved with the weights, optionally redrawn during
// training.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

struct FeatureDrawOptions {
  bool by_seed = false;      // false: the dropout site seeds them, the same for every model seed
  int64_t redraw_every = 0;  // training batches between redraws; 0: never
};

/// The buffer `numbers` [2] int64 holds a key drawn for the layer from the model's seed, and the number of
/// redraws. Both stay below 2^24, so that casting the module to a floating type keeps them exact.
class FeatureDraw : public torch::nn::Module {
 public:
  FeatureDraw(const Initializer& init, uint32_t site, int64_t redraw_every);

  /// Seed for ops::orthogonal_projection. Reads the buffer only if it was written since the last call: each
  /// read of GPU memory synchronizes.
  int64_t seed();
  /// In training: selects the draw of this batch.
  void set_step(uint64_t step);

 private:
  int64_t redraw_every_;
  int64_t key_, draw_ = 0;
  at::Tensor numbers_;
  int64_t read_version_;  // version of numbers_ cached in key_ and draw_
};

}  // namespace modewise::nn
