#pragma once
// Image encoder of all captioners: a convolutional backbone or features from a file, then self-attention over
// cells of any type of nn/attention/grid_attention.h.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>

#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"
#include "modewise/nn/embedding/positions.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/nn/layers/block.h"
#include "modewise/nn/layers/convolution.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

/// For each width a convolution of stride 2, BatchNorm and ReLU; a linear layer from channels or features to
/// the decoder's width; a learned position embedding per cell; blocks of attention and feed-forward;
/// LayerNorm.
class CaptionEncoder : public torch::nn::Module {
 public:
  CaptionEncoder(const CaptionModelConfig& config, const CaptionShape& shape, nn::Initializer& init);

  /// Images [B, C, height, width] or features [B, height, width, F] -> cells [B, h, w, D]. Data error for
  /// other sizes.
  at::Tensor forward(const at::Tensor& images) const;

 private:
  at::Tensor trunk(const at::Tensor& images) const;

  CaptionShape shape_;
  std::shared_ptr<nn::ModuleList<nn::Convolution>> convolutions_;
  std::shared_ptr<nn::ModuleList<nn::BatchNorm>> norms_;
  std::shared_ptr<nn::Linear> to_cells_;
  std::shared_ptr<nn::ModeEmbedding> code_;
  std::shared_ptr<nn::ModuleList<nn::Block>> blocks_;
  std::shared_ptr<nn::LayerNorm> norm_;
};

}  // namespace modewise::models
