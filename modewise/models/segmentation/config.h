#pragma once
// Options of the segmenters.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/model_choice.h"

namespace modewise::models {

class Segmenter;
struct SegmentationShape;

/// Patching of an image into tokens.
struct ImagePatchConfig {
  int64_t size = 4;                     // patch side in pixels
  std::string embedding = "relu_norm";  // linear | relu (conv, ReLU) | relu_norm (conv, ReLU, BatchNorm)
  double dropout = 0;
  void fields(Fields& fields);
};

struct PixelHeadConfig {
  bool norm = true;  // LayerNorm before the last linear layer
  double dropout = 0;
  std::string skip = "pixel";  // none | pixel: skip connection, a per-pixel MLP over the bands
  int64_t skip_width = 32;     // its hidden width
  void fields(Fields& fields);
};

struct UNetConfig {
  int64_t width = 64;  // channels of the first stage; ResNet-18 has 64
  void fields(Fields& fields);
};

struct SegmenterConfig : ModelChoice, EncoderConfig {
  std::string time = "mode";  // mode | stack: dates as a token mode, or stacked as bands
  ImagePatchConfig patch;
  PixelHeadConfig head;
  UNetConfig unet;

  SegmenterConfig();
  void fields(Fields& fields);
  /// Sets every option to the defaults of model `new_name`; hot and transformer keep shared options.
  void use_model(std::string new_name);
  /// Sets the options that differ between the released HOT code ("release"), its paper ("paper") and our
  /// defaults ("default").
  void use_preset(std::string new_preset);
};

using SegmenterRow = ModelRow<SegmenterConfig, SegmentationShape, Segmenter>;
/// Registry of all segmenters.
const std::vector<SegmenterRow>& segmenters();

/// Whether dates are a separate token mode.
bool dates_are_a_mode(const SegmenterConfig& config, const SegmentationShape& shape);
/// Token modes: dates (if a mode), rows, columns.
TokenShape scene_tokens(const SegmenterConfig& config, const SegmentationShape& shape);

/// The model's window side must be a multiple of this.
int64_t window_multiple(const SegmenterConfig& config);

/// Throws a config error for invalid or inconsistent values, values that do not match the shape, and a
/// changed option that the model does not have. `source` starts the message.
void validate(const SegmenterConfig& config, const SegmentationShape& shape,
              const std::string& source = "model");

}  // namespace modewise::models
