#pragma once
// The language model: Llama's and Mistral's decoder with any causal form of attention. Its parameters bear
// the names that they have in Hugging Face files.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/models/language_modeling/config.h"
#include "modewise/nn/initializer.h"
#include "modewise/ops/attention/attention_cache.h"

namespace modewise::models {

class LanguageModel : public torch::nn::Module {
 public:
  /// `config` is validated and resolved.
  LanguageModel(const LanguageModelConfig& config, nn::Initializer& init);
  ~LanguageModel() override;

  /// tokens [B, n] int64 in 0 … V−1 -> logits [B, n, V] of the token that follows each. Whether tokens are of
  /// this vocabulary is asked where they come from (texts, prompts); others are an index error here.
  at::Tensor forward(const at::Tensor& tokens);
  /// What the logits are made of: [B, n, D] behind the last norm. For losses in chunks (ops/language_loss.h).
  at::Tensor hidden(const at::Tensor& tokens);
  /// How much of each token's value reaches each token in attention layer `layer` (from 0): [B, H, n, n], for
  /// every form; rows sum to 1. In float32 at least.
  at::Tensor attention_matrix(const at::Tensor& tokens, int64_t layer);
  /// The matrix [V, D] that makes logits of what `hidden` returns; the embedding itself when tied.
  const at::Tensor& head_weight() const;

  /// One cache a layer, empty.
  std::vector<ops::AttentionCache> new_cache() const;
  /// tokens [B, t] that follow those in the caches -> logits [B, V] of the token that follows the last.
  at::Tensor step(const at::Tensor& tokens, std::vector<ops::AttentionCache>& caches);
  /// The same, but [B, t, D] behind the last norm.
  at::Tensor step_hidden(const at::Tensor& tokens, std::vector<ops::AttentionCache>& caches);

  const LanguageModelConfig& config() const { return config_; }

 private:
  class Decoder;
  at::Tensor embed(const at::Tensor& tokens) const;
  at::ScalarType activation_type() const;

  LanguageModelConfig config_;
  std::shared_ptr<Decoder> decoder_;
  at::Tensor head_;  // undefined when tied
};

/// Builds the model with weights that depend on `seed` alone: normal with config.deviation, divided by
/// √(2·layers) for the maps that end a branch (GPT-2); latents with config.attention.latent_deviation.
std::shared_ptr<LanguageModel> make_language_model(const LanguageModelConfig& config, uint64_t seed);
/// The same with weights of any value in this type, for those who will set them all.
std::shared_ptr<LanguageModel> make_unset_language_model(const LanguageModelConfig& config,
                                                         at::ScalarType weights = at::kFloat);

}  // namespace modewise::models
