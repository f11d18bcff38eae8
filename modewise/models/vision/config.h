#pragma once
// Options of the vision classifiers (images and volumes).

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

/// Patching of an image or volume into tokens.
struct GridPatchConfig {
  std::vector<int64_t> size;       // patch size in voxels per axis; one number: for all axes; empty:
                                   // usual_patch
  std::string embedding = "stem";  // stem | linear | relu | relu_norm (as released)
  double dropout = 0;
  void fields(Fields& fields);
  /// Patch size per axis for volumes of N_1 … N_k voxels.
  std::vector<int64_t> along(const std::vector<int64_t>& volume) const;
};

/// Default patch size: the power of 2, at least 2 and at most the shortest axis, for which the number of
/// patches is closest to 7 per axis (by ratio; ties: the smaller patch): 4 for 28³, 8 for 64³.
int64_t usual_patch(const std::vector<int64_t>& volume);

struct GridHeadConfig {
  std::string pooling = "mean";  // mean (as released) | flatten | attention
  bool norm = true;              // LayerNorm before the last linear layer
  double dropout = 0.1;
  void fields(Fields& fields);
};

struct ResNetConfig {
  int64_t width = 64;              // channels of the first stage
  std::string convolution = "3d";  // 3d | 2.5d | acs: kernels of volumes (nn::KernelAxes)
  void fields(Fields& fields);
};

struct ConvolutionConfig {
  std::vector<int64_t> widths = {32, 64};  // channels of each convolution
  int64_t kernel = 3;
  std::string attention = "none";    // none | a type of nn/attention/grid_attention.h
  int64_t heads = 1;                 // attention heads
  int64_t factors = 2;               // Kronecker factors of factorized types
  std::vector<std::string> mixture;  // types that attention mixture mixes
  void fields(Fields& fields);
};

struct VitConfig {
  std::string from;  // pretrained model folder (Hugging Face layout) to start from; "": from scratch
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

  /// Sets every option to the authors' values for model `new_name`. Switching between hot, transformer,
  /// divided and pooling-attention, which differ only in their attention, keeps the options.
  void use_model(std::string new_name);
  /// "release" (the released HOT code), "paper", or "default" (ours).
  void use_preset(std::string new_preset);
  /// Sets an empty patch size to the default, so that saved configs record it.
  void choose_patch(const VisionShape& shape);
};

/// Throws a config error for invalid or inconsistent values, values that do not match the shape, and a
/// changed option that the model does not have. `source` starts the message.
void validate(const VisionModelConfig& config, const VisionShape& shape, const std::string& source = "model");

/// Whether `name` is a token model: hot, transformer, divided or pooling-attention.
bool is_grid_token_model(std::string_view name);
TokenShape grid_tokens(const VisionModelConfig& config, const VisionShape& shape);

using VisionModelRow = ModelRow<VisionModelConfig, VisionShape, VisionClassifier>;
/// Registry of all vision classifiers.
const std::vector<VisionModelRow>& vision_models();

}  // namespace modewise::models
