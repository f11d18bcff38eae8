#pragma once
// Classifiers of volumes: values [B, N_1 … N_k, C], masks [B, N_1 … N_k], where some voxels are missing or
// volumes differ in size.
//
// Shapes: B samples, N_1 … N_k voxels (k is usually 3), C channels, K classes.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "modewise/models/classifier.h"

namespace modewise::models {

struct VisionModelConfig;

/// The sizes a classifier is built for.
struct VisionShape {
  std::vector<int64_t> size = {28, 28, 28};  // N_1 … N_k
  int64_t channels = 1;
  int64_t classes = 2;
  bool missing = false;  // whether batches come with masks
};

class VisionClassifier : public Classifier {
 public:
  explicit VisionClassifier(VisionShape shape) : Classifier(shape.classes), shape_(std::move(shape)) {}

  const VisionShape& shape() const { return shape_; }

 protected:
  /// Checks the input's shapes (data error) and puts 0 under missing voxels.
  ClassifierInput checked(const ClassifierInput& input) const;

 private:
  VisionShape shape_;
};

/// Builds the model named in `config` with weights that depend on `seed` alone. A config or shape that makes
/// no sense is a config error that names the option.
std::shared_ptr<VisionClassifier> make_grid_classifier(const VisionModelConfig& config, const VisionShape& shape,
                                                     uint64_t seed);

}  // namespace modewise::models
