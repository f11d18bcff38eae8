#pragma once
// Segmenter interface: semantic segmentation of an image, or of a time series of images of one location.
//
// Letters: B batch, T dates (1 for a single image), N window side, C classes. Values of invalid pixels never
// affect the result: they are masked first.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/models/attention_view.h"
#include "modewise/nn/layers/device.h"

namespace modewise::models {

struct SegmenterConfig;

/// The sizes a segmenter is built for.
struct SegmentationShape {
  int64_t times = 1;
  int64_t bands = 3;
  int64_t classes = 2;
  int64_t window = 64;   // N: windows are N × N pixels
  bool missing = false;  // whether the training data has invalid pixels; the model then gets the mask
};

struct SegmentationInput {
  at::Tensor image;  // [B, T, N, N, bands] scaled
  at::Tensor valid;  // [B, T, N, N] bool; undefined: all valid

  SegmentationInput to(at::Device device) const {
    return {nn::placed(image, device), nn::placed(valid, device)};
  }
};

class Segmenter : public torch::nn::Module {
 public:
  explicit Segmenter(const SegmentationShape& shape) : shape_(shape) {}

  /// Logits [B, N, N, C], float32 (float64 for a float64 module).
  virtual at::Tensor forward(const SegmentationInput& input) = 0;
  /// Attention maps; modes: dates (if a mode), rows, columns.
  virtual AttentionView attention(const SegmentationInput&) { return {}; }

  const SegmentationShape& shape() const { return shape_; }

 protected:
  /// Checks the input's shapes (data error) and sets invalid pixels to 0; with `shape().missing` the mask is
  /// appended as a channel: [B, T, N, N, bands or bands + 1].
  at::Tensor checked_image(const SegmentationInput& input) const;
  int64_t channels() const { return shape_.bands + (shape_.missing ? 1 : 0); }

 private:
  SegmentationShape shape_;
};

/// Builds the model named in `config`; weights depend only on `seed`. An invalid config or shape is a config
/// error that names the option.
std::shared_ptr<Segmenter> make_segmenter(const SegmenterConfig& config, const SegmentationShape& shape,
                                          uint64_t seed);

}  // namespace modewise::models
