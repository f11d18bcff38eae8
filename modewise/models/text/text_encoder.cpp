#include "modewise/models/text/text_encoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>

#include "modewise/core/error.h"
#include "modewise/models/text/text_input_checks.h"
#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/nn/layers/feed_forward.h"
#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/normalization/layer_norm.h"

namespace modewise::models {
/// Post-norm transformer layer: norm(x + dropout(branch(x))) for attention and feed-forward.
class TextLayer : public torch::nn::Module {
 public:
  TextLayer(const TextModelConfig& config, nn::Initializer& init) {
    attention_ = register_module("attention", nn::make_sequence_attention(init, config.attention_options()));
    norm1_ = register_module("norm1", std::make_shared<nn::LayerNorm>(config.width, config.norm_epsilon));
    feed_forward_ =
        register_module("feed_forward", std::make_shared<nn::GELUNetwork>(init, config.width, config.hidden));
    norm2_ = register_module("norm2", std::make_shared<nn::LayerNorm>(config.width, config.norm_epsilon));
    dropout1_ = register_module("dropout1", std::make_shared<nn::Dropout>(init, config.dropout));
    dropout2_ = register_module("dropout2", std::make_shared<nn::Dropout>(init, config.dropout));
  }

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) const {
    const at::Tensor h = added(x, attention_->forward(x, mask), *dropout1_, *norm1_);
    return added(h, feed_forward_->forward(h), *dropout2_, *norm2_);
  }
  at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) const {
    return attention_->full_matrix(x, mask);
  }

 private:
  static at::Tensor added(const at::Tensor& x, const at::Tensor& branch, const nn::Dropout& dropout,
                          const nn::LayerNorm& norm) {
    return ops::dropout_add_norm(x, branch, dropout.active_probability(), dropout.key(), norm.weight(),
                                 norm.bias(), norm.eps())
        .normed;
  }

  std::shared_ptr<nn::Attention> attention_;
  std::shared_ptr<nn::GELUNetwork> feed_forward_;
  std::shared_ptr<nn::LayerNorm> norm1_, norm2_;
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_;
};

TextEncoder::TextEncoder(const TextModelConfig& config, bool pooler, nn::Initializer& init)
    : config_(config) {
  const auto table = [&](const char* name, int64_t rows) {
    return register_module(name, std::make_shared<nn::Embedding>(init, rows, config.width, config.stddev));
  };
  words_ = table("words", config.vocabulary);
  positions_ = table("positions", config.position_rows());
  if (config.first_positions == "sinusoid") positions_->begin_with_waves(config.stddev);
  types_ = table("types", config.types);
  norm_ = register_module("norm", std::make_shared<nn::LayerNorm>(config.width, config.norm_epsilon));
  dropout_ = register_module("dropout", std::make_shared<nn::Dropout>(init, config.dropout));
  layers_ = register_module("layers", std::make_shared<nn::ModuleList<TextLayer>>());
  for (int64_t i = 0; i < config.layers; ++i) layers_->push_back(std::make_shared<TextLayer>(config, init));
  if (pooler)
    pooler_ = register_module("pooler", std::make_shared<nn::Linear>(init, config.width, config.width));
}

TextEncoder::~TextEncoder() = default;

at::Tensor TextEncoder::places(const TextInput& input) const {
  if (config_.kind == "bert") return at::arange(input.ids.size(1), input.ids.options()).unsqueeze(0);
  // RoBERTa: padding uses row padding_id, other tokens are numbered from the next row.
  const at::Tensor counted = input.ids.ne(config_.padding_id).to(at::kLong);
  return counted.cumsum(1) * counted + config_.padding_id;
}

at::Tensor TextEncoder::embed(const TextInput& input) const {
  check_text_input(input, config_);
  const at::Tensor places = this->places(input);
  check_places(places, config_);
  const at::Tensor types = input.types.defined() ? types_->forward(input.types) : types_->rows(0, 1);
  const at::Tensor x = norm_->forward(words_->forward(input.ids) + types + positions_->forward(places));
  return dropout_->forward(config_.precision == "bf16" ? x.to(at::kBFloat16) : x);
}

at::Tensor TextEncoder::forward(const TextInput& input) {
  at::Tensor x = embed(input);
  for (const auto& layer : *layers_) x = layer->forward(x, input.mask);
  return x;
}

at::Tensor TextEncoder::pooled(const at::Tensor& hidden) const {
  require(pooler_ != nullptr, ErrorKind::internal, "this encoder has no pooler");
  return ops::elementary(pooler_->forward(hidden.select(1, 0)), "tanh");
}

AttentionView TextEncoder::attention(const TextInput& input) {
  AttentionView view{{input.ids.size(1)}, {}, {}};
  at::Tensor x = embed(input);
  for (const auto& layer : *layers_) {
    const at::Tensor matrix = layer->full_matrix(x, input.mask);
    if (matrix.defined()) view.full.push_back(matrix);
    x = layer->forward(x, input.mask);
  }
  return view;
}

void draw_text_weights(torch::nn::Module& model, double stddev, nn::Initializer& init) {
  const at::NoGradGuard no_grad;
  model.apply([&](torch::nn::Module& module) {
    auto* map = dynamic_cast<nn::Linear*>(&module);
    if (map == nullptr) return;
    map->weight().copy_(init.normal(map->weight().sizes(), stddev));
    if (map->bias().defined()) map->bias().zero_();
  });
}

}  // namespace modewise::models
