// PatchTST (Nie et al., ICLR 2023) as in the authors' supervised code: channel independence, patches with one
// stride of end padding, learned position embeddings, post-norm encoder with batch normalisation, residual
// attention scores (He et al. 2021), flatten head.

#include <ATen/ops/cat.h>

#include <cmath>
#include <memory>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/feed_forward.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"
#include "modewise/ops/attention/softmax.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::models {
namespace {

class PatchTSTLayer : public torch::nn::Module {
 public:
  PatchTSTLayer(const ForecasterConfig& config, nn::Initializer& init);

  /// x [R, P, D] (R = B · N rows). Replaces `scores` [R, H, P, P] of the previous layer (or undefined) with
  /// this layer's.
  at::Tensor forward(const at::Tensor& x, at::Tensor& scores);

 private:
  at::Tensor attend(const at::Tensor& x, at::Tensor& scores) const;

  int64_t heads_;
  std::shared_ptr<nn::Linear> query_, key_, value_, out_;
  std::shared_ptr<nn::Dropout> weight_dropout_, projection_dropout_, attention_dropout_, feed_dropout_;
  std::shared_ptr<nn::BatchNorm> attention_norm_, feed_norm_;
  std::shared_ptr<nn::GELUNetwork> feed_forward_;
};

class PatchTST : public LearnedForecaster {
 public:
  PatchTST(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  int64_t length_, stride_, patches_;
  bool bfloat16_;
  std::shared_ptr<nn::Linear> embedding_, head_;
  at::Tensor positions_;  // [P, D]
  std::shared_ptr<nn::Dropout> dropout_, head_dropout_;
  std::shared_ptr<nn::ModuleList<PatchTSTLayer>> layers_;
};

PatchTSTLayer::PatchTSTLayer(const ForecasterConfig& config, nn::Initializer& init)
    : heads_(config.heads),
      query_(register_module("W_Q", std::make_shared<nn::Linear>(init, config.width, config.width))),
      key_(register_module("W_K", std::make_shared<nn::Linear>(init, config.width, config.width))),
      value_(register_module("W_V", std::make_shared<nn::Linear>(init, config.width, config.width))),
      out_(register_module("to_out", std::make_shared<nn::Linear>(init, config.width, config.width))),
      weight_dropout_(
          register_module("weight_dropout", std::make_shared<nn::Dropout>(init, config.attention.dropout))),
      projection_dropout_(
          register_module("projection_dropout", std::make_shared<nn::Dropout>(init, config.dropout))),
      attention_dropout_(
          register_module("dropout_attn", std::make_shared<nn::Dropout>(init, config.dropout))),
      feed_dropout_(register_module("dropout_ffn", std::make_shared<nn::Dropout>(init, config.dropout))),
      attention_norm_(register_module("norm_attn", std::make_shared<nn::BatchNorm>(config.width))),
      feed_norm_(register_module("norm_ffn", std::make_shared<nn::BatchNorm>(config.width))),
      feed_forward_(register_module(
          "ff", std::make_shared<nn::GELUNetwork>(init, config.width, config.hidden, config.dropout))) {}

at::Tensor PatchTSTLayer::attend(const at::Tensor& x, at::Tensor& scores) const {
  const std::vector<int64_t> split{x.size(0), x.size(1), heads_, x.size(2) / heads_};
  const at::Tensor q = query_->forward(x).view(split).transpose(1, 2);
  const at::Tensor k = key_->forward(x).view(split).transpose(1, 2);
  const at::Tensor v = value_->forward(x).view(split).transpose(1, 2);
  const at::Tensor own = ops::matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(split.back()));
  scores = scores.defined() ? scores + own : own;
  const at::Tensor weights = weight_dropout_->forward(ops::softmax(scores));
  return out_->forward(ops::matmul(weights, v).transpose(1, 2).reshape(x.sizes()));
}

at::Tensor PatchTSTLayer::forward(const at::Tensor& x, at::Tensor& scores) {
  const at::Tensor attended = projection_dropout_->forward(attend(x, scores));
  const at::Tensor middle = attention_norm_->forward(attention_dropout_->add_to(x, attended));
  return feed_norm_->forward(feed_dropout_->add_to(middle, feed_forward_->forward(middle)));
}

PatchTST::PatchTST(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
    : LearnedForecaster(shape, config.window),
      length_(config.patch.length),
      stride_(config.patch.stride),
      patches_((shape.lookback - length_) / stride_ + 2),
      bfloat16_(config.precision == "bf16"),
      embedding_(register_module("W_P", std::make_shared<nn::Linear>(init, length_, config.width))),
      positions_(register_parameter("W_pos", init.uniform({patches_, config.width}, 0.02))),
      dropout_(register_module("dropout", std::make_shared<nn::Dropout>(init, config.dropout))),
      layers_(register_module("layers", std::make_shared<nn::ModuleList<PatchTSTLayer>>())) {
  for (int64_t i = 0; i < config.blocks; ++i)
    layers_->push_back(std::make_shared<PatchTSTLayer>(config, init));
  head_ = register_module("head", std::make_shared<nn::Linear>(init, patches_ * config.width, outputs()));
  head_dropout_ = register_module("head_dropout", std::make_shared<nn::Dropout>(init, config.head.dropout));
}

at::Tensor PatchTST::raw_forecast(const at::Tensor& values, const ForecastInput&) {
  at::Tensor x = values.flatten(0, -2);  // [R, L]
  x = at::cat({x, x.narrow(-1, x.size(-1) - 1, 1).expand({x.size(0), stride_})}, -1);
  x = x.unfold(-1, length_, stride_).to(bfloat16_ ? at::kBFloat16 : values.scalar_type());
  x = dropout_->forward(embedding_->forward(x) + nn::cast_like(positions_, x));
  at::Tensor scores;
  for (const auto& layer : *layers_) x = layer->forward(x, scores);
  // The head expects channels first, patches second, as the authors' weights.
  x = head_dropout_->forward(head_->forward(x.transpose(1, 2).flatten(1)));
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = outputs();
  return x.view(sizes);
}

void use_patchtst(ForecasterConfig& config) {
  config.width = 128;
  config.hidden = 256;
  config.blocks = 3;
  config.heads = 16;
  config.dropout = 0.2;
  config.feed_forward = "gelu";
}

void check_patchtst(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  check_patches(config, shape, source);
  check_heads(config, shape, source);
}

nn::ModelCost patchtst_cost(const ForecasterConfig& config, const ForecastShape& shape,
                            Projection /*projection*/) {
  nn::CostAccount account(config.precision);
  account.layer("embedding");
  add_window_cost(account, config.window, shape);
  const int64_t patches = (shape.lookback - config.patch.length) / config.patch.stride + 2;
  const auto series = static_cast<double>(shape.series_count()), p = static_cast<double>(patches);
  account.linear("embedding", config.patch.length, config.width, series * p);
  account.add("position embeddings", patches * config.width, 0);
  account.keep(series * p * static_cast<double>(config.patch.length + config.width));
  add_transformer_layers(account, config, series, p);
  account.layer("head");
  account.linear("head", patches * config.width, forecast_outputs(shape), series);
  return std::move(account).cost({patches});
}

}  // namespace

ForecasterRow patchtst_row() {
  return {.name = "patchtst",
          .shared = {"precision", "width", "hidden", "layers", "heads", "dropout", "window", "patch.length",
                     "patch.stride", "attention.dropout", "head.dropout"},
          .make = make_model<PatchTST>,
          .cost = patchtst_cost,
          .defaults = use_patchtst,
          .check = check_patchtst};
}

}  // namespace modewise::models
