#include "modewise/models/vision/token_classifier.h"

namespace modewise::models {
namespace {

std::shared_ptr<nn::GridEmbedding> make_embedding(const VisionModelConfig& config, const VisionShape& shape,
                                                  nn::Initializer& init) {
  const std::vector<int64_t> patch = config.patch.along(shape.size);
  const std::string& embedding = config.patch.embedding;
  if (embedding == "stem")
    return std::make_shared<nn::GridStem>(init, static_cast<int64_t>(patch.size()), shape.channels,
                                          patch.front(), config.width);
  return std::make_shared<nn::GridPatches>(init, shape.channels, patch, config.width,
                                           nn::patch_activation(embedding));
}

}  // namespace

TokenClassifier::TokenClassifier(const VisionModelConfig& config, const VisionShape& shape,
                                 nn::Initializer& init)
    : VisionClassifier(shape), bfloat16_(config.precision == "bf16") {
  const TokenShape tokens = grid_tokens(config, shape);
  embedding_ = register_module("emb", make_embedding(config, shape, init));
  encoder_ = std::make_shared<TokenEncoder>(config, row_of(vision_models(), config.name).mechanism, tokens,
                                            config.patch.dropout, init);
  encoder_->join(*this);
  int64_t count = 1;
  for (const int64_t size : tokens.sizes) count *= size;
  head_ = register_module("head", std::make_shared<nn::TimeHead>(
                                      init, nn::time_pooling(config.head.pooling), count, config.width,
                                      config.heads, shape.classes, config.head.dropout, config.head.norm));
}

nn::PatchTokens TokenClassifier::embed(const ClassifierInput& input) const {
  const ClassifierInput clean = checked(input);
  return embedding_->forward(clean.values, clean.valid,
                             bfloat16_ ? at::kBFloat16 : clean.values.scalar_type());
}

at::Tensor TokenClassifier::forward(const ClassifierInput& input) {
  const nn::PatchTokens x = embed(input);
  std::optional<at::Tensor> mask;
  if (x.mask) mask = x.mask->flatten(1);
  return head_->forward(encoder_->forward(x).flatten(1, -2), mask).to(input.values.scalar_type());
}

AttentionView TokenClassifier::attention(const ClassifierInput& input) {
  return encoder_->attention(embed(input));
}

}  // namespace modewise::models
