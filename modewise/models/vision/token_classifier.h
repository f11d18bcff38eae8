#pragma once
// Higher-order transformer (HOT) classifier for images and volumes of any order, and variants with other
// attention: `hot` (Kronecker), `transformer` (full), `divided` (along one axis after another),
// `pooling-attention` (pooled keys and values).
//
// State names as in the released code: emb.conv.0, emb.conv.2, blocks.N.…, head.0, head.2.

#include <memory>
#include <vector>

#include "modewise/models/token_encoder.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/nn/embedding/grid_patches.h"
#include "modewise/nn/embedding/time_head.h"

namespace modewise::models {

class TokenClassifier : public VisionClassifier {
 public:
  TokenClassifier(const VisionModelConfig& config, const VisionShape& shape, nn::Initializer& init);

  at::Tensor forward(const ClassifierInput& input) override;
  AttentionView attention(const ClassifierInput& input) override;

 private:
  nn::PatchTokens embed(const ClassifierInput& input) const;

  bool bfloat16_;
  std::shared_ptr<nn::GridEmbedding> embedding_;
  std::shared_ptr<TokenEncoder> encoder_;
  std::shared_ptr<nn::TimeHead> head_;
};

}  // namespace modewise::models
