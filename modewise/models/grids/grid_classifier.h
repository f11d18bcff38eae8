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

struct GridModelConfig;

/// The sizes a classifier is built for.
struct GridShape {
  std::vector<int64_t> size = {28, 28, 28};  // N_1 … N_k
  int64_t channels = 1;
  int64_t classes = 2;
  bool missing = false;  // whether batches come with masks
};

class GridClassifier : public Classifier {
 public:
  explicit GridClassifier(GridShape shape) : Classifier(shape.classes), shape_(std::move(shape)) {}

  const GridShape& shape() const { return shape_; }

 protected:
  /// Checks the input's shapes (data error) and puts 0 under missing voxels.
  ClassifierInput checked(const ClassifierInput& input) const;

 private:
  GridShape shape_;
};

/// Builds the model named in `config` with weights that depend on `seed` alone. A config or shape that makes
/// no sense is a config error that names the option.
std::shared_ptr<GridClassifier> make_grid_classifier(const GridModelConfig& config, const GridShape& shape,
                                                     uint64_t seed);

}  // namespace modewise::models
