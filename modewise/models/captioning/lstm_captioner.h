#pragma once
// The recurrent captioner that looks at cells before each word (Xu et al. 2015, "Show, attend and tell"),
// with the attention a scaled dot product.

#include <memory>
#include <vector>

#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"
#include "modewise/nn/attention/attention.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/embedding/embedding.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/lstm_cell.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

/// First states from the mean cell. For each word: what the last layer's state finds among the cells stands
/// beside the embedded word as input of the first layer, and beside the last layer's new state before the
/// linear map to the vocabulary.
class LstmCaptioner : public Captioner {
 public:
  LstmCaptioner(const CaptionModelConfig& config, const CaptionShape& shape, nn::Initializer& init);

  at::Tensor logits(const at::Tensor& cells, const at::Tensor& tokens) override;
  CaptionState begin(const at::Tensor& cells) override;
  at::Tensor step(CaptionState& state, const at::Tensor& tokens) override;
  at::Tensor looked(const at::Tensor& cells, const at::Tensor& tokens) override;

 private:
  /// begin() for c captions a picture.
  CaptionState begin_each(const at::Tensor& cells, int64_t captions);
  /// What the last layer asks the cells with: [B, c, D].
  at::Tensor asked(const CaptionState& state) const;
  /// Takes one embedded word a caption, [R, D] -> [R, 2·D], from which logits are made.
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
