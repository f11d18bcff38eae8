#pragma once
// The draw of random features that a layer of linear attention uses: kept with the weights, renewed in
// training where that is wanted.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

struct FeatureDrawOptions {
  bool by_seed = false;      // false: the same features for every seed, named by the layer's dropout site
  int64_t redraw_every = 0;  // batches of training from one draw to the next; 0: never
};

/// The buffer `numbers` [2] int64 holds a key, drawn by the model's seed for the layer, and how often the
/// features were drawn again. Both stay below 2^24, so that no floating type of a whole module changes them.
class FeatureDraw : public torch::nn::Module {
 public:
  FeatureDraw(const Initializer& init, uint32_t site, int64_t redraw_every);

  /// For ops::orthogonal_projection. Reads the buffer where it was written since the last call: each read of
  /// a GPU's memory waits for the GPU.
  int64_t seed();
  /// In training: features of the draw that belongs to this batch.
  void set_step(uint64_t step);

 private:
  int64_t redraw_every_;
  int64_t key_, draw_ = 0;
  at::Tensor numbers_;
  int64_t read_version_;  // of numbers_, in key_ and draw_
};

}  // namespace modewise::nn
