#pragma once
// The encoder of text that BERT (Devlin et al. 2019) and RoBERTa (Liu et al. 2019) share: sums of learned
// codes of words, places and types, then blocks whose norms stand behind their branches.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "modewise/models/attention_view.h"
#include "modewise/models/text/config.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/embedding/embedding.h"
#include "modewise/nn/initializer.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

/// B texts of n tokens; shorter ones are filled up.
struct TextInput {
  at::Tensor ids;                  // [B, n] int64
  std::optional<at::Tensor> mask;  // [B, n] bool, true: a token of the text; none: all are
  at::Tensor types;                // [B, n] int64; undefined: all 0
};

class TextLayer;

class TextEncoder : public torch::nn::Module {
 public:
  /// `config` is validated and resolved. `pooler`: with the map that `pooled` needs.
  TextEncoder(const TextModelConfig& config, bool pooler, nn::Initializer& init);
  ~TextEncoder() override;

  /// [B, n, D]; what stands at places outside of the mask does not matter. Throws data errors that name text
  /// and place: a token or a type outside the tables, a place beyond the learned ones, a text without tokens.
  at::Tensor forward(const TextInput& input);
  /// tanh of a map of the first token: [B, n, D] -> [B, D].
  at::Tensor pooled(const at::Tensor& hidden) const;
  /// For every layer the matrix [B, H, n, n] over all tokens.
  AttentionView attention(const TextInput& input);

  /// The codes of the words [W, D].
  at::Tensor word_codes() const { return words_->rows(0, config_.vocabulary); }
  bool has_pooler() const { return pooler_ != nullptr; }
  const TextModelConfig& config() const { return config_; }

 private:
  at::Tensor embed(const TextInput& input) const;
  at::Tensor places(const TextInput& input) const;  // [B, n] or [1, n], rows of the table

  TextModelConfig config_;
  std::shared_ptr<nn::Embedding> words_, positions_, types_;
  std::shared_ptr<nn::LayerNorm> norm_;
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::ModuleList<TextLayer>> layers_;
  std::shared_ptr<nn::Linear> pooler_;
};

/// BERT's first weights: of maps normal with config.deviation, of biases 0. For a model that was just built
/// by `init`.
void draw_text_weights(torch::nn::Module& model, double stddev, nn::Initializer& init);

}  // namespace modewise::models
