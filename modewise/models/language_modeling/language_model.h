#pragma once
// Language model: the decoder of Llama and Mistral with any causal attention type. Parameter names as in
// Hugging Face files.

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
  /// `config` must be validated and resolved.
  LanguageModel(const LanguageModelConfig& config, nn::Initializer& init);
  ~LanguageModel() override;

  /// tokens [B, n] int64 in 0 … V−1 -> next-token logits [B, n, V]. Callers validate token ids; invalid ids
  /// are an index error here.
  at::Tensor forward(const at::Tensor& tokens);
  /// Hidden states [B, n, D] after the final norm, for chunked losses (ops/training/language_loss.h).
  at::Tensor hidden(const at::Tensor& tokens);
  /// Attention matrix of layer `layer` (from 0): [B, H, n, n], for every attention type; rows sum to 1.
  /// Computed in float32 or wider.
  at::Tensor attention_matrix(const at::Tensor& tokens, int64_t layer);
  /// The output embedding [V, D] that maps hidden states to logits; the input embedding if tied.
  const at::Tensor& head_weight() const;

  /// Empty key-value caches, one per layer.
  std::vector<ops::AttentionCache> new_cache() const;
  /// Incremental decoding: tokens [B, t] that follow the cached ones -> next-token logits [B, V].
  at::Tensor step(const at::Tensor& tokens, std::vector<ops::AttentionCache>& caches);
  /// The same, but hidden states [B, t, D] after the final norm.
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

/// Builds the model with weights that depend only on `seed`: normal with standard deviation config.init_std,
/// divided by √(2·layers) for the last projection of a residual branch (GPT-2); latents with
/// config.attention.latent_std.
std::shared_ptr<LanguageModel> make_language_model(const LanguageModelConfig& config, uint64_t seed);
/// The same with uninitialized weights in this dtype, for callers that set them all.
std::shared_ptr<LanguageModel> make_unset_language_model(const LanguageModelConfig& config,
                                                         at::ScalarType weights = at::kFloat);

}  // namespace modewise::models
