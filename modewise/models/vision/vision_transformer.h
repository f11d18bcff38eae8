#pragma once
// Vision Transformer (ViT, Dosovitskiy et al. 2021): image patches as tokens after a class token, learned
// position embeddings, pre-norm blocks, linear head on the class token.

#include <memory>
#include <string>
#include <vector>

#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/nn/embedding/grid_patches.h"
#include "modewise/nn/layers/block.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

class VisionTransformer : public VisionClassifier {
 public:
  VisionTransformer(const VisionModelConfig& config, const VisionShape& shape, nn::Initializer& init);

  at::Tensor forward(const ClassifierInput& input) override;
  /// Attention matrices [B, H, 1 + n, 1 + n] of every layer; token 0 is the class token.
  AttentionView attention(const ClassifierInput& input) override;

  /// Loads pretrained weights from a folder of matching sizes (take_vit_sizes); the head only if it is for
  /// the same classes, with its rows reordered to `classes`, the class names of the data (empty: taken in
  /// order). Returns a sentence for each newly initialized or reordered part.
  std::vector<std::string> take_weights(const std::string& folder,
                                        const std::vector<std::string>& classes = {});

 private:
  nn::PatchTokens embed(const ClassifierInput& input) const;  // [B, 1 + n, D]

  bool bfloat16_;
  std::shared_ptr<nn::GridEmbedding> embedding_;
  at::Tensor class_code_;  // [D]
  at::Tensor positions_;   // [(1 + n)·D]: weight decay skips vectors
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::ModuleList<nn::Block>> blocks_;
  std::shared_ptr<nn::LayerNorm> norm_;
  std::shared_ptr<nn::Linear> output_;
};

/// Copies the sizes of the pretrained folder config.vit.from (Hugging Face layout, ViTForImageClassification
/// or ViTModel) into `config`; no effect if "". Data errors name file, key or tensor, and rule: another
/// architecture or activation, weights that do not match the config, an image size other than `shape`.
void take_vit_sizes(VisionModelConfig& config, const VisionShape& shape);

}  // namespace modewise::models
