#pragma once
// Every option of every captioner.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/model_choice.h"

namespace modewise::models {

class Captioner;
struct CaptionShape;

/// What makes cells of a picture. Of features from a file there is no trunk: they are mapped to cells as they
/// are.
struct CaptionEncoderConfig {
  std::vector<int64_t> widths = {32, 64, 128, 256};  // channels of the trunk's convolutions, of stride 2 each
  int64_t kernel = 3;
  std::string attention = "dense";  // of cells among cells: none | a form of nn/attention_zoo.h, by name
  int64_t layers = 1;               // blocks of it
  int64_t heads = 4;
  int64_t factors = 2;  // Kronecker factors of its factorized forms
  double dropout = 0.1;
  void fields(Fields& fields);
};

/// What makes words of cells.
struct CaptionDecoderConfig {
  int64_t width = 256;  // D, of cells and words
  int64_t layers = 2;
  int64_t heads = 4;
  std::string attention = "dot-product";        // of words among earlier words: a form that may be causal
  std::string cross_attention = "dot-product";  // of words among cells: a form that may be rectangular
  int64_t factors = 2;                          // Kronecker factors of their factorized forms
  int64_t feed_forward = 4;  // times the width: the hidden width of the feed-forward network
  double dropout = 0.1;
  void fields(Fields& fields);
};

struct CaptionModelConfig {
  std::string name = "transformer";  // transformer | lstm
  int64_t max_words = 20;            // T_max: the longest caption, its end mark included
  CaptionEncoderConfig encoder;
  CaptionDecoderConfig decoder;
  void fields(Fields& fields);
};

/// The cells [h, w] that the encoder makes of pictures of this shape.
std::vector<int64_t> caption_cells(const CaptionModelConfig& config, const CaptionShape& shape);

/// Throws a config error for a value outside its rule, for values that do not fit together or do not fit the
/// shape, for a form of attention that cannot stand where it is named, and for an option changed that the
/// chosen model does not have. `source` opens the message.
void validate(const CaptionModelConfig& config, const CaptionShape& shape,
              const std::string& source = "model");

using CaptionerRow = ModelRow<CaptionModelConfig, CaptionShape, Captioner>;
/// Every captioner.
const std::vector<CaptionerRow>& captioners();

}  // namespace modewise::models
