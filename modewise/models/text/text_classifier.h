#pragma once
// Classes or a number for a text or a pair of texts, from an encoder's first token.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "modewise/models/text/text_encoder.h"

namespace modewise::models {

class TextClassifier : public torch::nn::Module {
 public:
  /// `config` is validated and resolved. bert: the pooled first token, dropout, a map. roberta: the first
  /// token, dropout, a map, tanh, dropout, a map.
  TextClassifier(const TextModelConfig& config, int64_t classes, nn::Initializer& init);

  /// [B, K] logits, float32 (float64 for a float64 module); K = 1 is a regression's value.
  /// Besides the encoder's errors a data error for a text whose first token is not in its mask.
  at::Tensor forward(const TextInput& input);
  AttentionView attention(const TextInput& input) { return encoder_->attention(input); }

  int64_t classes() const { return output_->weight().size(0); }
  TextEncoder& encoder() const { return *encoder_; }
  const TextModelConfig& config() const { return encoder_->config(); }

 private:
  std::shared_ptr<TextEncoder> encoder_;
  std::shared_ptr<nn::Linear> dense_;  // roberta
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_;
  std::shared_ptr<nn::Linear> output_;
};

/// With first weights that depend on `seed` alone. Validates and resolves the config.
std::shared_ptr<TextClassifier> make_text_classifier(const TextModelConfig& config, int64_t classes,
                                                     uint64_t seed);

}  // namespace modewise::models
