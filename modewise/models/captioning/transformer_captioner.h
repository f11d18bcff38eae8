#pragma once
// Transformer captioner: causal self-attention over words and cross-attention to cells, of any suitable types
// of nn/attention/grid_attention.h.

#include <memory>

#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"
#include "modewise/nn/embedding/embedding.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

class CaptionLayer;

/// Word and learned position embeddings; pre-norm layers of causal self-attention, cross-attention to the
/// cells and feed-forward; LayerNorm; output layer over the vocabulary.
class TransformerCaptioner : public Captioner {
 public:
  TransformerCaptioner(const CaptionModelConfig& config, const CaptionShape& shape, nn::Initializer& init);
  ~TransformerCaptioner() override;

  at::Tensor logits(const at::Tensor& cells, const at::Tensor& tokens) override;
  CaptionState begin(const at::Tensor& cells) override;
  at::Tensor step(CaptionState& state, const at::Tensor& tokens) override;
  at::Tensor looked(const at::Tensor& cells, const at::Tensor& tokens) override;

 private:
  /// Embeds tokens [R, T] at positions from `place` on -> [R, T, D].
  at::Tensor embed(const at::Tensor& tokens, int64_t place) const;
  at::Tensor words_of(const at::Tensor& x) const;

  std::shared_ptr<nn::Embedding> words_, places_;
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::ModuleList<CaptionLayer>> layers_;
  std::shared_ptr<nn::LayerNorm> norm_;
  std::shared_ptr<nn::Linear> head_;
};

}  // namespace modewise::models
