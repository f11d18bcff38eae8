#pragma once
// A model that names the class of every pixel of an image, or of a stack of images of one place at several
// dates.
//
// Letters: B batch, T dates (1 for a single image), N window side, C classes. A pixel that is not valid never
// reaches the result: its bands are replaced before anything else.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/models/attention_view.h"

namespace modewise::models {

struct SegmenterConfig;

/// The sizes a segmenter is built for.
struct SegmentationShape {
  int64_t times = 1;
  int64_t bands = 3;
  int64_t classes = 2;
  int64_t window = 64;   // N: windows are N × N pixels
  bool missing = false;  // whether the training data has pixels that are not valid; the model then sees which
};

struct SegmentationInput {
  at::Tensor image;  // [B, T, N, N, bands] scaled
  at::Tensor valid;  // [B, T, N, N] bool; undefined: all are
};

class Segmenter : public torch::nn::Module {
 public:
  explicit Segmenter(const SegmentationShape& shape) : shape_(shape) {}

  /// Logits [B, N, N, C], float32 (float64 for a float64 module).
  virtual at::Tensor forward(const SegmentationInput& input) = 0;
  /// What it attends to; modes: dates where they are a mode, rows, columns.
  virtual AttentionView attention(const SegmentationInput&) { return {}; }

  const SegmentationShape& shape() const { return shape_; }

 protected:
  /// Checks the input's shapes (data error) and puts 0 under pixels that are not valid; with
  /// `shape().missing` a last channel says which are: [B, T, N, N, bands or bands + 1].
  at::Tensor checked_image(const SegmentationInput& input) const;
  int64_t channels() const { return shape_.bands + (shape_.missing ? 1 : 0); }

 private:
  SegmentationShape shape_;
};

/// Builds the model named in `config` with weights that depend on `seed` alone. A config or shape that makes
/// no sense is a config error that names the option.
std::shared_ptr<Segmenter> make_segmenter(const SegmenterConfig& config, const SegmentationShape& shape,
                                          uint64_t seed);

}  // namespace modewise::models
