#pragma once
// Text classifier (or regressor) for texts and text pairs, from the encoder's first token.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "modewise/models/text/text_encoder.h"

namespace modewise::models {

class TextClassifier : public torch::nn::Module {
 public:
  /// `config` must be validated and resolved. Head of bert: pooled first token, dropout, linear layer. Head
  /// of roberta: first token, dropout, linear layer, tanh, dropout, linear layer.
  TextClassifier(const TextModelConfig& config, int64_t classes, nn::Initializer& init);

  /// Logits [B, K], float32 (float64 for a float64 module); K = 1: the value of a regression.
  /// Besides the encoder's errors, a data error for a text whose first token is padding.
  at::Tensor forward(const TextInput& input);
  AttentionView attention(const TextInput& input) { return encoder_->attention(input); }

  /// Lets the model return scale · y + shift instead of y, for a regression.
  void rescale(double scale, double shift);

  int64_t classes() const { return output_->weight().size(0); }
  TextEncoder& encoder() const { return *encoder_; }
  const TextModelConfig& config() const { return encoder_->config(); }

 private:
  std::shared_ptr<TextEncoder> encoder_;
  std::shared_ptr<nn::Linear> dense_;  // roberta
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_;
  std::shared_ptr<nn::Linear> output_;
};

/// Builds the model; initial weights depend only on `seed`. Validates and resolves the config.
std::shared_ptr<TextClassifier> make_text_classifier(const TextModelConfig& config, int64_t classes,
                                                     uint64_t seed);

}  // namespace modewise::models
