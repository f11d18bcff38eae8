#include "modewise/models/captioning/transformer_captioner.h"

#include <ATen/TensorOperators.h>

#include <cmath>
#include <utility>

#include "modewise/nn/attention/grid_attention.h"
#include "modewise/nn/layers/feed_forward.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {

/// Not in an unnamed namespace: TransformerCaptioner, which has external linkage, holds them.
class CaptionLayer : public torch::nn::Module {
 public:
  CaptionLayer(const CaptionModelConfig& config, int64_t cells, nn::Initializer& init) {
    const CaptionDecoderConfig& decoder = config.decoder;
    nn::AttentionTypeOptions causal, rectangular;
    causal.causal = true;
    causal.factors = rectangular.factors = decoder.factors;
    causal.mixture = rectangular.mixture = decoder.mixture;
    nn::SynthesizerShape shape{{config.max_words}, 0, decoder.width, decoder.heads};
    self_ = register_module("self_attn", nn::make_attention(init, decoder.attention, shape, causal));
    shape.keys = cells;
    cross_ =
        register_module("cross_attn", nn::make_attention(init, decoder.cross_attention, shape, rectangular));
    feed_forward_ = register_module(
        "feedforward", std::make_shared<nn::GELUNetwork>(
                           init, decoder.width, decoder.width * decoder.feed_forward, decoder.dropout));
    for (int i = 0; i < 3; ++i) {
      const std::string number = std::to_string(i + 1);
      if (i != 1 || ops::find_attention_type(decoder.cross_attention, ops::TokenLayout::grid)->reads_tokens)
        norms_[i] = register_module("norm" + number, std::make_shared<nn::LayerNorm>(decoder.width));
      dropouts_[i] =
          register_module("dropout" + number, std::make_shared<nn::Dropout>(init, decoder.dropout));
    }
  }

  /// x [R, T, D], cells [R, N, D]
  at::Tensor forward(const at::Tensor& x, const at::Tensor& cells) const {
    const at::Tensor given = after_self(x);
    return fed(dropouts_[1]->add_to(given, cross_->attend(asking(given), {cells, {}})));
  }
  /// Cross-attention weights [R, H, T, N]; undefined without weights per cell.
  at::Tensor looked(const at::Tensor& x, const at::Tensor& cells) const {
    return cross_->attend_matrix(asking(after_self(x)), {cells, {}});
  }

  nn::TokenCache remembered(const at::Tensor& cells) const { return cross_->remembered(cells); }
  /// One decoding step: x [R, 1, D] at position `place`; cells of B images.
  at::Tensor step(const at::Tensor& x, nn::TokenCache& words, const nn::TokenCache& cells,
                  int64_t place) const {
    const at::Tensor given = dropouts_[0]->add_to(x, self_->step(norms_[0]->forward(x), words));
    const at::Tensor asked = asking(given).view({cells.values.size(0), -1, x.size(-1)});
    return fed(dropouts_[1]->add_to(given, cross_->attend_step(asked, cells, place).view(x.sizes())));
  }

 private:
  at::Tensor after_self(const at::Tensor& x) const {
    return dropouts_[0]->add_to(x, self_->forward(norms_[0]->forward(x), {}));
  }
  at::Tensor asking(const at::Tensor& x) const { return norms_[1] ? norms_[1]->forward(x) : x; }
  at::Tensor fed(const at::Tensor& x) const {
    return dropouts_[2]->add_to(x, feed_forward_->forward(norms_[2]->forward(x)));
  }

  std::shared_ptr<nn::Attention> self_, cross_;
  std::shared_ptr<nn::FeedForward> feed_forward_;
  std::shared_ptr<nn::LayerNorm> norms_[3];  // the second is null if cross-attention does not depend on x
  std::shared_ptr<nn::Dropout> dropouts_[3];
};

namespace {

/// [B, h, w, D] -> [R, h·w, D] for c captions per image.
at::Tensor cells_of_captions(const at::Tensor& cells, int64_t captions) {
  const at::Tensor flat = cells.flatten(1, 2);
  return captions == 1 ? flat : flat.repeat_interleave(captions, 0);
}

}  // namespace

TransformerCaptioner::TransformerCaptioner(const CaptionModelConfig& config, const CaptionShape& shape,
                                           nn::Initializer& init)
    : Captioner(config, shape, init) {
  const int64_t width = config.decoder.width;
  const double stddev = 1 / std::sqrt(static_cast<double>(width));
  const std::vector<int64_t> cells = caption_cells(config, shape);
  words_ = register_module("words", std::make_shared<nn::Embedding>(init, shape.vocabulary, width, stddev));
  places_ = register_module("places", std::make_shared<nn::Embedding>(init, config.max_words, width, stddev));
  dropout_ = register_module("dropout", std::make_shared<nn::Dropout>(init, config.decoder.dropout));
  layers_ = register_module("layers", std::make_shared<nn::ModuleList<CaptionLayer>>());
  for (int64_t layer = 0; layer < config.decoder.layers; ++layer)
    layers_->push_back(std::make_shared<CaptionLayer>(config, cells[0] * cells[1], init));
  norm_ = register_module("norm", std::make_shared<nn::LayerNorm>(width));
  head_ = register_module("head", std::make_shared<nn::Linear>(init, width, shape.vocabulary));
}

TransformerCaptioner::~TransformerCaptioner() = default;

at::Tensor TransformerCaptioner::embed(const at::Tensor& tokens, int64_t place) const {
  return dropout_->forward(words_->forward(tokens) + places_->rows(place, tokens.size(1)));
}

at::Tensor TransformerCaptioner::words_of(const at::Tensor& x) const {
  return head_->forward(norm_->forward(x));
}

at::Tensor TransformerCaptioner::logits(const at::Tensor& cells, const at::Tensor& tokens) {
  const at::Tensor seen = cells_of_captions(cells, captions_each(cells, tokens));
  at::Tensor x = embed(tokens, 0);
  for (const auto& layer : *layers_) x = layer->forward(x, seen);
  return words_of(x);
}

CaptionState TransformerCaptioner::begin(const at::Tensor& cells) {
  CaptionState state;
  state.rows.resize(2 * layers_->size());
  for (const auto& layer : *layers_) {
    nn::TokenCache seen = layer->remembered(cells);
    state.cells.push_back(std::move(seen.keys));
    state.cells.push_back(std::move(seen.values));
  }
  return state;
}

at::Tensor TransformerCaptioner::step(CaptionState& state, const at::Tensor& tokens) {
  check_step(state, tokens);
  at::Tensor x = embed(tokens.unsqueeze(1), state.place);
  for (size_t i = 0; i < layers_->size(); ++i) {
    nn::TokenCache given{std::move(state.rows[2 * i]), std::move(state.rows[2 * i + 1])};
    x = (*layers_)[i].step(x, given, {state.cells[2 * i], state.cells[2 * i + 1]}, state.place);
    state.rows[2 * i] = std::move(given.keys);
    state.rows[2 * i + 1] = std::move(given.values);
  }
  ++state.place;
  return words_of(x).squeeze(1);
}

at::Tensor TransformerCaptioner::looked(const at::Tensor& cells, const at::Tensor& tokens) {
  const at::Tensor seen = cells_of_captions(cells, captions_each(cells, tokens));
  at::Tensor x = embed(tokens, 0);
  for (size_t i = 0; i + 1 < layers_->size(); ++i) x = (*layers_)[i].forward(x, seen);
  const at::Tensor weights = (*layers_)[layers_->size() - 1].looked(x, seen);
  return weights.defined() ? weights.mean(1).unflatten(-1, {cells.size(1), cells.size(2)}) : weights;
}

}  // namespace modewise::models
