#include "modewise/models/captioning/lstm_captioner.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>

#include <cmath>

#include "modewise/ops/dense/elementary.h"

namespace modewise::models {

LstmCaptioner::LstmCaptioner(const CaptionModelConfig& config, const CaptionShape& shape,
                             nn::Initializer& init)
    : Captioner(config, shape, init), width_(config.decoder.width) {
  const CaptionDecoderConfig& decoder = config.decoder;
  const double stddev = 1 / std::sqrt(static_cast<double>(width_));
  words_ = register_module("words", std::make_shared<nn::Embedding>(init, shape.vocabulary, width_, stddev));
  first_states_ = register_module("first_states",
                                  std::make_shared<nn::Linear>(init, width_, 2 * decoder.layers * width_));
  attention_ =
      register_module("attention", std::make_shared<nn::TokenAttention>(
                                       init, width_, 1, nn::TokenAttentionOptions{.query_key_norm = false}));
  layers_ = register_module("layers", std::make_shared<nn::ModuleList<nn::LstmCell>>());
  for (int64_t layer = 0; layer < decoder.layers; ++layer)
    layers_->push_back(std::make_shared<nn::LstmCell>(init, layer == 0 ? 2 * width_ : width_, width_));
  dropout_ = register_module("dropout", std::make_shared<nn::Dropout>(init, decoder.dropout));
  dropout_out_ = register_module("dropout_out", std::make_shared<nn::Dropout>(init, decoder.dropout));
  head_ = register_module("head", std::make_shared<nn::Linear>(init, 2 * width_, shape.vocabulary));
}

CaptionState LstmCaptioner::begin_each(const at::Tensor& cells, int64_t captions) {
  CaptionState state;
  at::Tensor first = ops::elementary(first_states_->forward(cells.flatten(1, 2).mean(1)), "tanh");
  if (captions > 1) first = first.repeat_interleave(captions, 0);
  state.rows = first.split(width_, -1);  // hidden and cell state of each layer
  const nn::TokenCache seen = attention_->remembered(cells);
  state.cells = {seen.keys, seen.values};
  return state;
}

CaptionState LstmCaptioner::begin(const at::Tensor& cells) {
  return begin_each(cells, 1);
}

at::Tensor LstmCaptioner::asked(const CaptionState& state) const {
  return state.rows[state.rows.size() - 2].reshape({state.cells[0].size(0), -1, width_});
}

at::Tensor LstmCaptioner::advance(CaptionState& state, const at::Tensor& words) {
  const at::Tensor found =
      attention_->attend_step(asked(state), {state.cells[0], state.cells[1]}, state.place).flatten(0, 1);
  at::Tensor x = at::cat({words, found}, -1);
  for (size_t i = 0; i < layers_->size(); ++i) {
    const nn::LstmState next = (*layers_)[i].forward(x, {state.rows[2 * i], state.rows[2 * i + 1]});
    state.rows[2 * i] = x = next.hidden;
    state.rows[2 * i + 1] = next.cell;
  }
  ++state.place;
  return at::cat({x, found}, -1);
}

at::Tensor LstmCaptioner::logits(const at::Tensor& cells, const at::Tensor& tokens) {
  CaptionState state = begin_each(cells, captions_each(cells, tokens));
  const at::Tensor words = dropout_->forward(words_->forward(tokens));
  std::vector<at::Tensor> given;
  for (const at::Tensor& word : words.unbind(1)) given.push_back(advance(state, word));
  return head_->forward(dropout_out_->forward(at::stack(given, 1)));
}

at::Tensor LstmCaptioner::step(CaptionState& state, const at::Tensor& tokens) {
  check_step(state, tokens);
  return head_->forward(dropout_out_->forward(advance(state, dropout_->forward(words_->forward(tokens)))));
}

at::Tensor LstmCaptioner::looked(const at::Tensor& cells, const at::Tensor& tokens) {
  CaptionState state = begin_each(cells, captions_each(cells, tokens));
  std::vector<at::Tensor> weights;
  for (const at::Tensor& word : words_->forward(tokens).unbind(1)) {
    weights.push_back(attention_->attend_matrix(asked(state), {cells, {}}).squeeze(1).flatten(0, 1));
    advance(state, word);
  }
  return at::stack(weights, 1).unflatten(-1, {cells.size(1), cells.size(2)});
}

}  // namespace modewise::models
