#pragma once
// Options of the captioners.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/model_choice.h"

namespace modewise::models {

class Captioner;
struct CaptionShape;

/// Image encoder: convolutional backbone and attention over cells. Features from a file skip the backbone and
/// are mapped to cells directly.
struct CaptionEncoderConfig {
  std::vector<int64_t> widths = {32, 64, 128, 256};  // channels of the backbone's convolutions, stride 2 each
  int64_t kernel = 3;
  std::string attention =
      "dense";         // self-attention over cells: none | a type of nn/attention/grid_attention.h
  int64_t layers = 1;  // attention blocks
  int64_t heads = 4;
  int64_t factors = 2;               // Kronecker factors of factorized types
  std::vector<std::string> mixture;  // types that attention mixture mixes
  double dropout = 0.1;
  void fields(Fields& fields);
};

/// Caption decoder.
struct CaptionDecoderConfig {
  int64_t width = 256;  // D, of cells and words
  int64_t layers = 2;
  int64_t heads = 4;
  std::string attention = "dot-product";        // self-attention over words: a causal type
  std::string cross_attention = "dot-product";  // words to cells: a type with cross-attention
  int64_t factors = 2;                          // Kronecker factors of factorized types
  std::vector<std::string> mixture;             // types that attention mixture-dense mixes
  int64_t feed_forward = 4;  // hidden width of the feed-forward network, in multiples of width
  double dropout = 0.1;
  void fields(Fields& fields);
};

struct CaptionModelConfig {
  std::string name = "transformer";  // transformer | lstm
  int64_t max_words = 20;            // T_max: maximum caption length, including EOS
  CaptionEncoderConfig encoder;
  CaptionDecoderConfig decoder;
  void fields(Fields& fields);
};

/// Size [h, w] of the encoder's feature map (cells) for images of this shape.
std::vector<int64_t> caption_cells(const CaptionModelConfig& config, const CaptionShape& shape);

/// Throws a config error for invalid or inconsistent values, values that do not match the shape, an attention
/// type that is not causal or has no cross-attention where needed, and a changed option that the model does
/// not have. `source` starts the message.
void validate(const CaptionModelConfig& config, const CaptionShape& shape,
              const std::string& source = "model");

using CaptionerRow = ModelRow<CaptionModelConfig, CaptionShape, Captioner>;
/// Registry of all captioners.
const std::vector<CaptionerRow>& captioners();

}  // namespace modewise::models
