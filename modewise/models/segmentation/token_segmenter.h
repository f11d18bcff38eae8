#pragma once
// Higher-order transformer (HOT) segmenter, and its variant with full attention: patches are tokens [B, T, n,
// n, D] (dates, rows, columns; two modes for a single date), a linear head predicts the classes of a token's
// p × p pixels.
//
// State names as in the released code: emb.conv.0, emb.conv.2, blocks.N.…, head.0, head.2.

#include <memory>

#include "modewise/models/segmentation/config.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/models/token_encoder.h"
#include "modewise/nn/embedding/grid_patches.h"

namespace modewise::models {

class TokenSegmenter : public Segmenter {
 public:
  TokenSegmenter(const SegmenterConfig& config, const SegmentationShape& shape, nn::Initializer& init);

  at::Tensor forward(const SegmentationInput& input) override;
  AttentionView attention(const SegmentationInput& input) override;

 private:
  at::Tensor arranged(const SegmentationInput& input) const;
  nn::PatchTokens embed(const at::Tensor& image, const at::Tensor& valid) const;
  at::Tensor head(at::Tensor tokens, const std::optional<at::Tensor>& mask) const;

  int64_t patch_;
  bool bfloat16_, time_mode_;
  std::shared_ptr<nn::GridPatches> embedding_;
  std::shared_ptr<TokenEncoder> encoder_;
  std::shared_ptr<nn::LayerNorm> norm_;  // or null
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::Linear> linear_;
  std::shared_ptr<nn::Linear> skip_hidden_, skip_out_;
};

}  // namespace modewise::models
