#pragma once
// CNN baseline of the synthesizers' paper (arXiv 2201.01410, section 4.1: "a two-layer CNN") with any
// attention type of nn/attention/grid_attention.h between convolutions and classifier. The paper does not
// give widths, kernel sizes or the position of the attention; here they are options.

#include <memory>

#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/nn/attention/attention.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/nn/layers/convolution.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

/// For each width a convolution of stride 1, BatchNorm, ReLU and max pooling by 2 along every mode; then x +
/// attention(LayerNorm x) on the feature map [B, n_1 … n_k, C]; dropout, and a linear layer on the flattened
/// map.
class ConvolutionNetwork : public VisionClassifier {
 public:
  ConvolutionNetwork(const VisionModelConfig& config, const VisionShape& shape, nn::Initializer& init);

  at::Tensor forward(const ClassifierInput& input) override;
  AttentionView attention(const ClassifierInput& input) override;

  /// Sizes n_1 … n_k of the feature map.
  static std::vector<int64_t> map_sizes(const VisionModelConfig& config, const VisionShape& shape);

 private:
  at::Tensor map(const ClassifierInput& input) const;

  bool bfloat16_;
  std::shared_ptr<nn::ModuleList<nn::Convolution>> convolutions_;
  std::shared_ptr<nn::ModuleList<nn::BatchNorm>> norms_;
  std::shared_ptr<nn::LayerNorm> attention_norm_;
  std::shared_ptr<nn::Attention> attention_;  // null: none
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::Linear> linear_;
};

}  // namespace modewise::models
