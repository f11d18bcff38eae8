#pragma once
// Every option of every classifier of grids: volumes, pictures.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/ensemble_config.h"
#include "modewise/models/model_choice.h"

namespace modewise::models {

class VisionClassifier;
struct VisionShape;

/// How a volume is cut into tokens.
struct GridPatchConfig {
  std::vector<int64_t> size;       // voxels of a patch along each axis; one number stands for all; empty:
                                   // usual_patch
  std::string embedding = "stem";  // stem | linear | relu | relu_norm (as released)
  double dropout = 0;
  void fields(Fields& fields);
  /// Of volumes of N_1 … N_k voxels, one number an axis.
  std::vector<int64_t> along(const std::vector<int64_t>& volume) const;
};

/// The power of 2, from 2 on and no longer than the shortest axis, that cuts a volume into a number of
/// patches as near as can be to 7 an axis (by ratio; the smaller one of two as near): 4 for 28³, 8 for 64³.
int64_t usual_patch(const std::vector<int64_t>& volume);

struct GridHeadConfig {
  std::string pooling = "mean";  // mean (as released) | flatten | attention
  bool norm = true;              // LayerNorm before the last linear map
  double dropout = 0.1;
  void fields(Fields& fields);
};

struct ResNetConfig {
  int64_t width = 64;  // channels of the first stage
  void fields(Fields& fields);
};

struct ConvolutionConfig {
  std::vector<int64_t> widths = {32, 64};  // channels of each convolution
  int64_t kernel = 3;
  std::string attention = "none";  // none | a form of nn/attention_zoo.h, by name
  int64_t heads = 1;               // of the attention
  int64_t factors = 2;             // Kronecker factors of its factorized forms
  void fields(Fields& fields);
};

struct VitConfig {
  std::string from;  // a folder in Hugging Face's layout to start from; "": from scratch
  void fields(Fields& fields);
};

struct VisionModelConfig : ModelChoice, EncoderConfig {
  GridPatchConfig patch;
  GridHeadConfig head;
  ResNetConfig resnet;
  ConvolutionConfig cnn;
  VitConfig vit;
  EnsembleConfig ensemble;

  VisionModelConfig();
  void fields(Fields& fields);

  /// Sets every option to what the authors of model `new_name` use. Between hot, transformer, divided and
  /// pooling-attention, which differ in their attention alone, the options stay as they are.
  void use_model(std::string new_name);
  /// "release" (the released HOT code), "paper", or "default" (ours).
  void use_preset(std::string new_preset);
  /// Sets the patch to the usual one where none was named, so that a saved config says which it was.
  void choose_patch(const VisionShape& shape);
};

/// Throws a config error for a value outside its rule, for values that do not fit together or do not fit the
/// shape, and for an option changed that the chosen model does not have. `source` opens the message.
void validate(const VisionModelConfig& config, const VisionShape& shape, const std::string& source = "model");

/// hot and its siblings with another attention.
bool is_grid_token_model(std::string_view name);
TokenShape grid_tokens(const VisionModelConfig& config, const VisionShape& shape);

using GridModelRow = ModelRow<VisionModelConfig, VisionShape, VisionClassifier>;
/// Every volume classifier.
const std::vector<GridModelRow>& grid_models();

}  // namespace modewise::models
