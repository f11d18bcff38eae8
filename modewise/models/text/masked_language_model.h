#pragma once
// What stands at a place of a text whose token is hidden: an encoder and a head whose last map is the table
// of the words.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "modewise/models/text/text_encoder.h"

namespace modewise::models {

class MaskedLanguageModel : public torch::nn::Module {
 public:
  /// `config` is validated and resolved.
  MaskedLanguageModel(const TextModelConfig& config, nn::Initializer& init);

  /// [B, n, D]: what the logits are made of.
  at::Tensor hidden(const TextInput& input) { return encoder_->forward(input); }
  /// Rows [..., D] of it -> [..., W] logits, float32: norm(gelu(dense(row))) against every word's code, and a
  /// bias a word.
  at::Tensor logits(const at::Tensor& rows) const;
  /// What the words' codes are compared with, [..., D] -> [..., D]: for losses in chunks.
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

/// With first weights that depend on `seed` alone. Validates and resolves the config.
std::shared_ptr<MaskedLanguageModel> make_masked_language_model(const TextModelConfig& config, uint64_t seed);

}  // namespace modewise::models
