#pragma once
// ViT (Dosovitskiy et al. 2021): patches of a picture as tokens behind a token of its own for the class,
// learned positions, blocks with their norms before the branches, a map of the class token.

#include <memory>
#include <string>
#include <vector>

#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/nn/layers/block.h"
#include "modewise/nn/embedding/grid_patches.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

class VisionTransformer : public VisionClassifier {
 public:
  VisionTransformer(const VisionModelConfig& config, const VisionShape& shape, nn::Initializer& init);

  at::Tensor forward(const ClassifierInput& input) override;
  /// For every layer the matrix [B, H, 1 + n, 1 + n]; the first token is the class's.
  AttentionView attention(const ClassifierInput& input) override;

  /// Sets the weights from a folder whose sizes the model has (take_vit_sizes); the head, where it is for as
  /// many classes. Returns a sentence for what begins anew.
  std::vector<std::string> take_weights(const std::string& folder);

 private:
  nn::PatchTokens embed(const ClassifierInput& input) const;  // [B, 1 + n, D]

  bool bfloat16_;
  std::shared_ptr<nn::GridEmbedding> embedding_;
  at::Tensor class_code_;  // [D]
  at::Tensor positions_;   // [(1 + n)·D]: weight decay spares vectors
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::ModuleList<nn::Block>> blocks_;
  std::shared_ptr<nn::LayerNorm> norm_;
  std::shared_ptr<nn::Linear> output_;
};

/// The sizes of the folder config.vit.from (Hugging Face's layout, ViTForImageClassification or ViTModel)
/// into `config`; nothing where it is "". Data errors name file, key or tensor, and rule: another
/// architecture or activation, weights that do not fit the config, pictures of another size than `shape`.
void take_vit_sizes(VisionModelConfig& config, const VisionShape& shape);

}  // namespace modewise::models
