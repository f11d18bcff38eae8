#pragma once
// The higher-order transformer as a classifier of volumes of any order, and its siblings with other
// attention: `hot` (Kronecker), `transformer` (all tokens against all), `timesformer` (along one axis after
// another), `mvit` (pooled keys and values).
//
// Names in the state are those of the released code: emb.conv.0, emb.conv.2, blocks.N.…, head.0, head.2.

#include <memory>
#include <vector>

#include "modewise/models/token_encoder.h"
#include "modewise/models/volumes/config.h"
#include "modewise/models/volumes/volume_classifier.h"
#include "modewise/nn/grid_patches.h"
#include "modewise/nn/time_head.h"

namespace modewise::models {

class TokenClassifier : public VolumeClassifier {
 public:
  TokenClassifier(const VolumeModelConfig& config, const VolumeShape& shape, nn::Initializer& init);

  at::Tensor forward(const VolumeInput& input) override;
  std::vector<ModeMaps> attention_maps(const VolumeInput& input) override;
  std::vector<at::Tensor> full_attention(const VolumeInput& input) override;
  std::vector<int64_t> token_sizes() const override { return encoder_->tokens().sizes; }

 private:
  nn::PatchTokens embed(const VolumeInput& input) const;

  bool bfloat16_;
  std::shared_ptr<nn::GridEmbedding> embedding_;
  std::shared_ptr<TokenEncoder> encoder_;
  std::shared_ptr<nn::TimeHead> head_;
};

}  // namespace modewise::models
