#pragma once
// Every option of every segmenter.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/model_choice.h"

namespace modewise::models {

class Segmenter;
struct SegmentationShape;

/// How an image is cut into tokens.
struct ImagePatchConfig {
  int64_t size = 4;                     // pixels a side
  std::string embedding = "relu_norm";  // linear | relu (conv, ReLU) | relu_norm (conv, ReLU, BatchNorm)
  double dropout = 0;
  void fields(Fields& fields);
};

struct PixelHeadConfig {
  bool norm = true;  // LayerNorm before the last linear map
  double dropout = 0;
  std::string skip = "pixel";  // none | pixel: a network of each pixel's bands beside the tokens
  int64_t skip_width = 32;     // of its hidden layer
  void fields(Fields& fields);
};

struct UNetConfig {
  int64_t width = 64;  // channels of the first stage; ResNet-18 has 64
  void fields(Fields& fields);
};

struct SegmenterConfig : ModelChoice, EncoderConfig {
  std::string time = "mode";  // mode | stack: several dates are a token mode, or bands
  ImagePatchConfig patch;
  PixelHeadConfig head;
  UNetConfig unet;

  SegmenterConfig();
  void fields(Fields& fields);
  /// Sets every option to the defaults of model `new_name`; hot and transformer keep those they share.
  void use_model(std::string new_name);
  /// Sets the options in which the released HOT code and its paper differ ("release", "paper"), or ours
  /// ("default").
  void use_preset(std::string new_preset);
};

using SegmenterRow = ModelRow<SegmenterConfig, SegmentationShape, Segmenter>;
/// Every segmenter.
const std::vector<SegmenterRow>& segmenters();

/// Whether several dates are a mode of the tokens of their own.
bool dates_are_a_mode(const SegmenterConfig& config, const SegmentationShape& shape);
/// Dates where they are a mode, rows, columns.
TokenShape scene_tokens(const SegmenterConfig& config, const SegmentationShape& shape);

/// The side of the square windows a model takes is a multiple of this.
int64_t window_multiple(const SegmenterConfig& config);

/// Throws a config error for a value outside its rule, for values that do not fit together or do not fit the
/// shape, and for an option changed that the chosen model does not have. `source` opens the message.
void validate(const SegmenterConfig& config, const SegmentationShape& shape, const std::string& source = "model");

}  // namespace modewise::models
