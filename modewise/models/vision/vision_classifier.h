#pragma once
// Vision classifier interface (images and volumes): values [B, N_1 … N_k, C], and masks [B, N_1 … N_k] for
// missing voxels or different sizes.
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
  bool missing = false;  // batches have masks
};

class VisionClassifier : public Classifier {
 public:
  explicit VisionClassifier(VisionShape shape) : Classifier(shape.classes), shape_(std::move(shape)) {}

  const VisionShape& shape() const { return shape_; }

 protected:
  /// Checks the input's shapes (data error) and sets missing voxels to 0.
  ClassifierInput checked(const ClassifierInput& input) const;

 private:
  VisionShape shape_;
};

/// Builds the model named in `config`; weights depend only on `seed`. An invalid config or shape is a config
/// error that names the option.
std::shared_ptr<VisionClassifier> make_vision_classifier(const VisionModelConfig& config,
                                                         const VisionShape& shape, uint64_t seed);

}  // namespace modewise::models
