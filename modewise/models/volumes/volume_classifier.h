#pragma once
// What every volume classifier is: a module from a batch of volumes, with a mask where some voxels are
// missing or volumes differ in size, to the classes' logits.
//
// Shapes: B samples, N_1 … N_k voxels (k is usually 3), C channels, K classes.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/models/mode_maps.h"

namespace modewise::models {

struct VolumeModelConfig;

/// The sizes a classifier is built for.
struct VolumeShape {
  std::vector<int64_t> size = {28, 28, 28};  // N_1 … N_k
  int64_t channels = 1;
  int64_t classes = 2;
  bool missing = false;  // whether batches come with masks
};

struct VolumeInput {
  at::Tensor values;  // [B, N_1 … N_k, C]; what stands under a missing voxel does not matter
  at::Tensor valid;   // [B, N_1 … N_k] bool; undefined when nothing is missing
};

class VolumeClassifier : public torch::nn::Module {
 public:
  explicit VolumeClassifier(VolumeShape shape) : shape_(std::move(shape)) {}

  /// [B, K] logits, float32 (float64 for a float64 module).
  virtual at::Tensor forward(const VolumeInput& input) = 0;
  /// One entry a layer, for models made of mode-wise factors; empty for the others.
  virtual std::vector<ModeMaps> attention_maps(const VolumeInput& input);
  /// One matrix over all tokens [B, heads, N, N] a layer, for models that attend all tokens at once; else
  /// empty.
  virtual std::vector<at::Tensor> full_attention(const VolumeInput& input);
  /// N_1 … N_k of the token tensor; empty for models without tokens.
  virtual std::vector<int64_t> token_sizes() const { return {}; }

  const VolumeShape& shape() const { return shape_; }

 protected:
  /// Checks the input's shapes (data error) and puts 0 under missing voxels.
  VolumeInput checked(const VolumeInput& input) const;

 private:
  VolumeShape shape_;
};

/// Builds the model named in `config` with weights that depend on `seed` alone. A config or shape that makes
/// no sense is a config error that names the option.
std::shared_ptr<VolumeClassifier> make_volume_classifier(const VolumeModelConfig& config,
                                                         const VolumeShape& shape, uint64_t seed);

}  // namespace modewise::models
