#pragma once
// Masked language model: a text encoder with a masked-LM head whose output layer is the tied word embedding.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "modewise/models/text/text_encoder.h"

namespace modewise::models {

class MaskedLanguageModel : public torch::nn::Module {
 public:
  /// `config` must be validated and resolved.
  MaskedLanguageModel(const TextModelConfig& config, nn::Initializer& init);

  /// Hidden states of the encoder, [B, n, D].
  at::Tensor hidden(const TextInput& input) { return encoder_->forward(input); }
  /// Hidden states [..., D] -> logits [..., W], float32: norm(gelu(dense(row))) times the word embeddings,
  /// plus a bias per word.
  at::Tensor logits(const at::Tensor& rows) const;
  /// The transformed hidden states before the output layer, [..., D] -> [..., D], for chunked losses.
  at::Tensor transformed(const at::Tensor& rows) const;
  const at::Tensor& bias() const { return bias_; }  // [W]

  AttentionView attention(const TextInput& input) { return encoder_->attention(input); }
  TextEncoder& encoder() const { return *encoder_; }
  const TextModelConfig& config() const { return encoder_->config(); }

 private:
  std::shared_ptr<TextEncoder> encoder_;
  std::shared_ptr<nn::Linear> dense_;
  std::shared_ptr<nn::LayerNorm> norm_;
  at::Tensor bias_;
};

/// Builds the model; initial weights depend only on `seed`. Validates and resolves the config.
std::shared_ptr<MaskedLanguageModel> make_masked_language_model(const TextModelConfig& config, uint64_t seed);

}  // namespace modewise::models
