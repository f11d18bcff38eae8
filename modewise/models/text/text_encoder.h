#pragma once
// Text encoder of BERT (Devlin et al. 2019) and RoBERTa (Liu et al. 2019): the sum of learned word, position
// and token type embeddings, then post-norm transformer layers.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "modewise/models/attention_view.h"
#include "modewise/models/text/config.h"
#include "modewise/nn/embedding/embedding.h"
#include "modewise/nn/initializer.h"
#include "modewise/nn/layers/device.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

/// A batch of B texts, padded to n tokens.
struct TextInput {
  at::Tensor ids;                  // [B, n] int64
  std::optional<at::Tensor> mask;  // padding mask [B, n] bool, true: a token of the text; none: no padding
  at::Tensor types;                // [B, n] int64; undefined: all 0

  TextInput to(at::Device device) const {
    return {nn::placed(ids, device), mask ? std::optional(nn::placed(*mask, device)) : std::nullopt,
            nn::placed(types, device)};
  }
};

class TextLayer;

class TextEncoder : public torch::nn::Module {
 public:
  /// `config` must be validated and resolved. `pooler`: with the pooler layer for `pooled`.
  TextEncoder(const TextModelConfig& config, bool pooler, nn::Initializer& init);
  ~TextEncoder() override;

  /// Hidden states [B, n, D]; ids at padding are ignored. Data errors name text and position: a token id or
  /// type outside the tables, a text longer than the position embeddings, a text without tokens.
  at::Tensor forward(const TextInput& input);
  /// Pooler: tanh of a linear layer on the first token, [B, n, D] -> [B, D].
  at::Tensor pooled(const at::Tensor& hidden) const;
  /// Attention matrices [B, H, n, n] of every layer.
  AttentionView attention(const TextInput& input);

  /// The word embeddings [W, D].
  at::Tensor word_codes() const { return words_->rows(0, config_.vocabulary); }
  const TextModelConfig& config() const { return config_; }

 private:
  at::Tensor embed(const TextInput& input) const;
  at::Tensor places(const TextInput& input) const;  // position ids [B, n] or [1, n], rows of the table

  TextModelConfig config_;
  std::shared_ptr<nn::Embedding> words_, positions_, types_;
  std::shared_ptr<nn::LayerNorm> norm_;
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::ModuleList<TextLayer>> layers_;
  std::shared_ptr<nn::Linear> pooler_;
};

/// BERT's initialization: weights of linear layers normal with standard deviation `stddev`, biases 0. For a
/// model just built by `init`.
void draw_text_weights(torch::nn::Module& model, double stddev, nn::Initializer& init);

}  // namespace modewise::models
