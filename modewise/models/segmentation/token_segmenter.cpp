#include "modewise/models/segmentation/token_segmenter.h"

#include <ATen/ops/relu.h>

#include <utility>

namespace modewise::models {
TokenSegmenter::TokenSegmenter(const SegmenterConfig& config, const SegmentationShape& shape,
                               nn::Initializer& init)
    : Segmenter(shape),
      patch_(config.patch.size),
      bfloat16_(config.precision == "bf16"),
      time_mode_(dates_are_a_mode(config, shape)) {
  const int64_t stacked = channels() * (time_mode_ ? 1 : shape.times);
  embedding_ = register_module(
      "emb", std::make_shared<nn::GridPatches>(init, stacked, std::vector<int64_t>{patch_, patch_},
                                               config.width, nn::patch_activation(config.patch.embedding)));
  encoder_ = std::make_shared<TokenEncoder>(config, config.name, scene_tokens(config, shape),
                                            config.patch.dropout, init);
  encoder_->join(*this);
  const auto head = register_module("head", std::make_shared<nn::Sequence>());
  if (config.head.norm) norm_ = head->register_module("0", std::make_shared<nn::LayerNorm>(config.width));
  dropout_ = head->register_module("1", std::make_shared<nn::Dropout>(init, config.head.dropout));
  linear_ = head->register_module(
      "2", std::make_shared<nn::Linear>(init, config.width, shape.classes * patch_ * patch_));
  if (config.head.skip == "none") return;
  const auto skip = register_module("skip", std::make_shared<nn::Sequence>());
  skip_hidden_ = skip->register_module(
      "0", std::make_shared<nn::Linear>(init, channels() * shape.times, config.head.skip_width));
  skip_out_ =
      skip->register_module("2", std::make_shared<nn::Linear>(init, config.head.skip_width, shape.classes));
}

/// [B, T, N, N, c], or [B, 1, N, N, T·c] if dates are stacked.
at::Tensor TokenSegmenter::arranged(const SegmentationInput& input) const {
  at::Tensor image = checked_image(input);
  if (!time_mode_ && image.size(1) > 1) image = image.permute({0, 2, 3, 1, 4}).flatten(3).unsqueeze(1);
  return image;
}

/// Embeds each date as a separate image; stacked dates as one.
nn::PatchTokens TokenSegmenter::embed(const at::Tensor& image, const at::Tensor& valid) const {
  at::Tensor seen = valid;
  if (valid.defined()) seen = time_mode_ ? valid.flatten(0, 1) : valid.any(1);
  nn::PatchTokens out =
      embedding_->forward(image.flatten(0, 1), seen, bfloat16_ ? at::kBFloat16 : image.scalar_type());
  if (time_mode_) {
    out.tokens = out.tokens.unflatten(0, {image.size(0), image.size(1)});
    if (out.mask) out.mask = out.mask->unflatten(0, {image.size(0), image.size(1)});
  }
  return out;
}

at::Tensor TokenSegmenter::head(at::Tensor tokens, const std::optional<at::Tensor>& mask) const {
  if (time_mode_) {
    if (mask) {
      const at::Tensor weight = mask->unsqueeze(-1).to(tokens.scalar_type());
      tokens = (tokens * weight).sum(1) / weight.sum(1).clamp_min(1);
    } else {
      tokens = tokens.mean(1);
    }
  }
  if (norm_) tokens = norm_->forward(tokens);
  return nn::join_patches(linear_->forward(dropout_->forward(tokens)), patch_);
}

at::Tensor TokenSegmenter::forward(const SegmentationInput& input) {
  const at::Tensor image = arranged(input);
  const nn::PatchTokens x = embed(image, input.valid);
  at::Tensor logits = head(encoder_->forward(x), x.mask).to(input.image.scalar_type());
  if (skip_hidden_) {
    const at::Tensor pixels = time_mode_ ? image.permute({0, 2, 3, 1, 4}).flatten(3) : image.squeeze(1);
    logits = logits + skip_out_->forward(at::relu(skip_hidden_->forward(pixels)));
  }
  return logits;
}

AttentionView TokenSegmenter::attention(const SegmentationInput& input) {
  return encoder_->attention(embed(arranged(input), input.valid));
}

}  // namespace modewise::models
