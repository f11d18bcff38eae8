#pragma once
// LSTM captioner with visual attention (Xu et al. 2015, "Show, attend and tell"), using scaled dot-product
// attention.

#include <memory>
#include <vector>

#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"
#include "modewise/nn/attention/attention.h"
#include "modewise/nn/embedding/embedding.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/lstm_cell.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

/// Initial states come from the mean cell. For each word, the last layer's state attends to the cells; the
/// attended vector is concatenated with the word embedding as input of the first layer, and with the last
/// layer's new state before the output layer.
class LstmCaptioner : public Captioner {
 public:
  LstmCaptioner(const CaptionModelConfig& config, const CaptionShape& shape, nn::Initializer& init);

  at::Tensor logits(const at::Tensor& cells, const at::Tensor& tokens) override;
  CaptionState begin(const at::Tensor& cells) override;
  at::Tensor step(CaptionState& state, const at::Tensor& tokens) override;
  at::Tensor looked(const at::Tensor& cells, const at::Tensor& tokens) override;

 private:
  /// begin() for c captions per image.
  CaptionState begin_each(const at::Tensor& cells, int64_t captions);
  /// Queries for the cells, from the last layer's state: [B, c, D].
  at::Tensor asked(const CaptionState& state) const;
  /// Advances the state by one word embedding per caption: [R, D] -> input of the output layer [R, 2·D].
  at::Tensor advance(CaptionState& state, const at::Tensor& words);

  int64_t width_;
  std::shared_ptr<nn::Embedding> words_;
  std::shared_ptr<nn::Linear> first_states_;
  std::shared_ptr<nn::TokenAttention> attention_;
  std::shared_ptr<nn::ModuleList<nn::LstmCell>> layers_;
  std::shared_ptr<nn::Dropout> dropout_, dropout_out_;
  std::shared_ptr<nn::Linear> head_;
};

}  // namespace modewise::models
