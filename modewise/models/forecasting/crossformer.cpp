// Crossformer (Zhang and Yan, ICLR 2023) as in the authors' code: segments of each series are tokens; every
// layer attends over the segments of a series, then over series through a few learned routers; the encoder
// merges neighbouring segments from layer to layer, and a decoder layer per scale adds a forecast.

#include <ATen/ops/cat.h>

#include <memory>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/nn/attention/attention.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/feed_forward.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {
namespace {

struct CrossformerConfig {
  int64_t segment = 12;  // L_seg
  int64_t merge = 2;     // segments merged from layer to layer
  int64_t routers = 10;  // c, per segment
  void fields(Fields& fields);
};

void CrossformerConfig::fields(Fields& f) {
  f.add("segment", segment, "segment length in rows", {.min = 1, .max = 1e6});
  f.add("merge", merge, "neighbouring segments merged from layer to layer", {.min = 2, .max = 64});
  f.add("routers", routers, "learned routers per segment, which pass messages between series",
        {.min = 1, .max = 65536});
}

int64_t ceil_divide(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// Segments of a series in each encoder layer.
std::vector<int64_t> segments_by_layer(const ForecasterConfig& config, int64_t lookback) {
  const CrossformerConfig& own = config.own.of<CrossformerConfig>();
  std::vector<int64_t> out{ceil_divide(lookback, own.segment)};
  while (std::ssize(out) < config.blocks) out.push_back(ceil_divide(out.back(), own.merge));
  return out;
}

std::shared_ptr<nn::TokenAttention> attention_of(const ForecasterConfig& config, nn::Initializer& init) {
  return std::make_shared<nn::TokenAttention>(
      init, config.width, config.heads,
      nn::TokenAttentionOptions{.query_key_norm = false, .dropout = config.dropout});
}

/// Two-stage attention (section 3.2).
class TwoStageLayer : public torch::nn::Module {
 public:
  TwoStageLayer(const ForecasterConfig& config, int64_t segments, nn::Initializer& init);

  /// x [B, N, S, D]
  at::Tensor forward(const at::Tensor& x);

 private:
  std::shared_ptr<nn::TokenAttention> time_attention_, sender_, receiver_;
  at::Tensor router_;  // [S, c, D]
  std::shared_ptr<nn::Dropout> dropout1_, dropout2_, dropout3_, dropout4_;
  std::shared_ptr<nn::LayerNorm> norm1_, norm2_, norm3_, norm4_;
  std::shared_ptr<nn::GELUNetwork> feed_forward1_, feed_forward2_;
};

TwoStageLayer::TwoStageLayer(const ForecasterConfig& config, int64_t segments, nn::Initializer& init)
    : time_attention_(register_module("time_attention", attention_of(config, init))),
      sender_(register_module("dim_sender", attention_of(config, init))),
      receiver_(register_module("dim_receiver", attention_of(config, init))),
      router_(register_parameter(
          "router", init.normal({segments, config.own.of<CrossformerConfig>().routers, config.width}, 1.0))),
      dropout1_(register_module("dropout1", std::make_shared<nn::Dropout>(init, config.dropout))),
      dropout2_(register_module("dropout2", std::make_shared<nn::Dropout>(init, config.dropout))),
      dropout3_(register_module("dropout3", std::make_shared<nn::Dropout>(init, config.dropout))),
      dropout4_(register_module("dropout4", std::make_shared<nn::Dropout>(init, config.dropout))),
      norm1_(register_module("norm1", std::make_shared<nn::LayerNorm>(config.width))),
      norm2_(register_module("norm2", std::make_shared<nn::LayerNorm>(config.width))),
      norm3_(register_module("norm3", std::make_shared<nn::LayerNorm>(config.width))),
      norm4_(register_module("norm4", std::make_shared<nn::LayerNorm>(config.width))),
      feed_forward1_(
          register_module("MLP1", std::make_shared<nn::GELUNetwork>(init, config.width, config.hidden))),
      feed_forward2_(
          register_module("MLP2", std::make_shared<nn::GELUNetwork>(init, config.width, config.hidden))) {}

at::Tensor TwoStageLayer::forward(const at::Tensor& x) {
  const int64_t batch = x.size(0), series = x.size(1), segments = x.size(2);
  at::Tensor t = x.flatten(0, 1);  // [B · N, S, D]
  t = norm1_->forward(dropout1_->add_to(t, time_attention_->forward(t, {})));
  t = norm2_->forward(dropout2_->add_to(t, feed_forward1_->forward(t)));

  at::Tensor n = t.unflatten(0, {batch, series}).transpose(1, 2).flatten(0, 1);  // [B · S, N, D]
  const at::Tensor routers =
      nn::cast_like(router_, x).expand({batch, segments, router_.size(1), router_.size(2)}).flatten(0, 1);
  const at::Tensor messages = sender_->attend(routers, {n, {}});
  n = norm3_->forward(dropout3_->add_to(n, receiver_->attend(n, {messages, {}})));
  n = norm4_->forward(dropout4_->add_to(n, feed_forward2_->forward(n)));
  return n.unflatten(0, {batch, segments}).transpose(1, 2);
}

/// Joins each `merge` neighbouring segments; the last ones are repeated if some are missing.
class SegmentMerging : public torch::nn::Module {
 public:
  SegmentMerging(const ForecasterConfig& config, nn::Initializer& init)
      : merge_(config.own.of<CrossformerConfig>().merge),
        norm_(register_module("norm", std::make_shared<nn::LayerNorm>(merge_ * config.width))),
        linear_(register_module("linear_trans",
                                std::make_shared<nn::Linear>(init, merge_ * config.width, config.width))) {}

  /// x [B, N, S, D] -> [B, N, ⌈S / merge⌉, D]
  at::Tensor forward(const at::Tensor& x) const {
    const int64_t segments = ceil_divide(x.size(2), merge_), missing = segments * merge_ - x.size(2);
    const at::Tensor whole =
        missing > 0 ? at::cat({x, x.narrow(2, x.size(2) - missing, missing)}, 2) : x.contiguous();
    return linear_->forward(norm_->forward(whole.view({x.size(0), x.size(1), segments, merge_ * x.size(3)})));
  }

 private:
  int64_t merge_;
  std::shared_ptr<nn::LayerNorm> norm_;
  std::shared_ptr<nn::Linear> linear_;
};

class CrossformerDecoderLayer : public torch::nn::Module {
 public:
  CrossformerDecoderLayer(const ForecasterConfig& config, int64_t segments, int64_t outputs,
                          nn::Initializer& init)
      : self_attention_(
            register_module("self_attention", std::make_shared<TwoStageLayer>(config, segments, init))),
        cross_attention_(register_module("cross_attention", attention_of(config, init))),
        dropout_(register_module("dropout", std::make_shared<nn::Dropout>(init, config.dropout))),
        norm1_(register_module("norm1", std::make_shared<nn::LayerNorm>(config.width))),
        norm2_(register_module("norm2", std::make_shared<nn::LayerNorm>(config.width))),
        feed_forward_(
            register_module("MLP1", std::make_shared<nn::GELUNetwork>(init, config.width, config.width))),
        predict_(register_module("linear_pred", std::make_shared<nn::Linear>(init, config.width, outputs))) {}

  /// x [B, N, S, D] with the encoder's segments [B, N, S', D] of one scale; replaced by the layer's output.
  /// Returns its forecast per segment [B, N, S, outputs].
  at::Tensor forward(at::Tensor& x, const at::Tensor& encoded) {
    const std::vector<int64_t> sizes = x.sizes().vec();
    at::Tensor y = self_attention_->forward(x).flatten(0, 1);
    y = norm1_->forward(dropout_->add_to(y, cross_attention_->attend(y, {encoded.flatten(0, 1), {}})));
    x = norm2_->forward(y + feed_forward_->forward(y)).view(sizes);
    return predict_->forward(x);
  }

 private:
  std::shared_ptr<TwoStageLayer> self_attention_;
  std::shared_ptr<nn::TokenAttention> cross_attention_;
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::LayerNorm> norm1_, norm2_;
  std::shared_ptr<nn::GELUNetwork> feed_forward_;
  std::shared_ptr<nn::Linear> predict_;
};

class Crossformer : public LearnedForecaster {
 public:
  Crossformer(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  bool bfloat16_;
  int64_t segment_;
  std::shared_ptr<nn::Linear> embedding_;
  at::Tensor encoder_positions_, decoder_positions_;  // [N, S, D]
  std::shared_ptr<nn::LayerNorm> norm_;
  std::shared_ptr<nn::ModuleList<TwoStageLayer>> encoder_;
  std::shared_ptr<nn::ModuleList<SegmentMerging>> merging_;
  std::shared_ptr<nn::ModuleList<CrossformerDecoderLayer>> decoder_;
};

Crossformer::Crossformer(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
    : LearnedForecaster(shape, config.window),
      bfloat16_(config.precision == "bf16"),
      segment_(config.own.of<CrossformerConfig>().segment),
      embedding_(
          register_module("enc_value_embedding", std::make_shared<nn::Linear>(init, segment_, config.width))),
      norm_(register_module("pre_norm", std::make_shared<nn::LayerNorm>(config.width))),
      encoder_(register_module("encoder", std::make_shared<nn::ModuleList<TwoStageLayer>>())),
      merging_(register_module("merging", std::make_shared<nn::ModuleList<SegmentMerging>>())),
      decoder_(register_module("decoder", std::make_shared<nn::ModuleList<CrossformerDecoderLayer>>())) {
  const std::vector<int64_t> segments = segments_by_layer(config, shape.lookback);
  const int64_t series = shape.series_count(), ahead = ceil_divide(shape.horizon, segment_);
  encoder_positions_ =
      register_parameter("enc_pos_embedding", init.normal({series, segments.front(), config.width}, 1.0));
  decoder_positions_ =
      register_parameter("dec_pos_embedding", init.normal({series, ahead, config.width}, 1.0));
  for (const int64_t count : segments) {
    if (!encoder_->empty()) merging_->push_back(std::make_shared<SegmentMerging>(config, init));
    encoder_->push_back(std::make_shared<TwoStageLayer>(config, count, init));
  }
  for (int64_t i = 0; i <= config.blocks; ++i)
    decoder_->push_back(std::make_shared<CrossformerDecoderLayer>(
        config, ahead, segment_ * (outputs() / shape.horizon), init));
}

at::Tensor Crossformer::raw_forecast(const at::Tensor& values, const ForecastInput&) {
  at::Tensor x = values.flatten(1, -2);  // [B, N, L]
  // The first value is repeated before the window until segments fill it.
  const int64_t missing = encoder_positions_.size(1) * segment_ - x.size(2);
  if (missing > 0) x = at::cat({x.narrow(2, 0, 1).expand({x.size(0), x.size(1), missing}), x}, 2);
  x = x.unflatten(2, {-1, segment_}).to(bfloat16_ ? at::kBFloat16 : values.scalar_type());
  x = norm_->forward(embedding_->forward(x) + nn::cast_like(encoder_positions_, x));

  std::vector<at::Tensor> scales{x};
  for (size_t i = 0; i < encoder_->size(); ++i) {
    if (i > 0) x = (*merging_)[i - 1].forward(x);
    x = (*encoder_)[i].forward(x);
    scales.push_back(x);
  }
  at::Tensor ahead = nn::cast_like(decoder_positions_, x).unsqueeze(0).expand({x.size(0), -1, -1, -1});
  at::Tensor sum;
  for (size_t i = 0; i < decoder_->size(); ++i) {
    const at::Tensor part = (*decoder_)[i].forward(ahead, scales[i]);
    sum = sum.defined() ? sum + part : part;
  }
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = outputs();
  return sum.flatten(2).narrow(2, 0, outputs()).reshape(sizes);
}

/// The authors' ETTh1 sizes; windows are not normalized. Segments of 12 rows are TSLib's, for 96 rows.
void use_crossformer(ForecasterConfig& config) {
  config.width = 256;
  config.hidden = 512;
  config.blocks = 3;
  config.heads = 4;
  config.dropout = 0.2;
  config.window.centre = "none";
  config.window.scale = "none";
}

void check_crossformer(const ForecasterConfig& config, const ForecastShape& shape,
                       const std::string& source) {
  check_heads(config, shape, source);
  const int64_t merge = config.own.of<CrossformerConfig>().merge;
  const std::vector<int64_t> segments = segments_by_layer(config, shape.lookback);
  for (size_t i = 0; i + 1 < segments.size(); ++i)
    require(
        segments[i + 1] * merge <= 2 * segments[i], ErrorKind::config,
        "{}: crossformer.merge = {} is too large for layer {}: number of segments of {} rows before it: {}; "
        "use fewer layers, a smaller crossformer.segment or a longer lookback",
        source, merge, i + 2, config.own.of<CrossformerConfig>().segment, segments[i]);
}

void add_token_attention(nn::CostAccount& account, int64_t width, double queries, double keys, double pairs) {
  for (const char* name : {"query and key", "value and output"}) {
    account.linear(name, width, width, queries);
    account.linear(name, width, width, keys);
  }
  account.add("scores and mixing", 0, 2 * pairs * static_cast<double>(width));
  account.keep((3 * queries + 2 * keys) * static_cast<double>(width));
}

void add_two_stages(nn::CostAccount& account, const ForecasterConfig& config, int64_t series,
                    int64_t segments) {
  const int64_t width = config.width, routers = config.own.of<CrossformerConfig>().routers;
  const auto s = static_cast<double>(segments), n = static_cast<double>(series),
             c = static_cast<double>(routers);
  add_token_attention(account, width, n * s, n * s, n * s * s);
  account.add("routers", segments * routers * width, 0);
  add_token_attention(account, width, c * s, n * s, s * c * n);
  add_token_attention(account, width, n * s, c * s, s * c * n);
  for (int i = 0; i < 2; ++i) {
    account.linear("feed-forward", width, config.hidden, n * s);
    account.linear("feed-forward", config.hidden, width, n * s);
    account.norm(width, n * s);
    account.norm(width, n * s);
    account.keep(n * s * static_cast<double>(4 * width + 2 * config.hidden));
  }
  account.keep(static_cast<double>(config.heads) * s * n * (s + 2 * c));
}

nn::ModelCost crossformer_cost(const ForecasterConfig& config, const ForecastShape& shape,
                               Projection /*projection*/) {
  nn::CostAccount account(config.precision);
  const CrossformerConfig& own = config.own.of<CrossformerConfig>();
  const int64_t width = config.width, series = shape.series_count();
  const std::vector<int64_t> segments = segments_by_layer(config, shape.lookback);
  const int64_t ahead = ceil_divide(shape.horizon, own.segment);
  const auto n = static_cast<double>(series), first = static_cast<double>(segments.front()),
             last = static_cast<double>(ahead);
  account.layer("embedding");
  add_window_cost(account, config.window, shape);
  account.linear("embedding", own.segment, width, n * first);
  account.add("position embeddings", series * (segments.front() + ahead) * width, 0);
  account.norm(width, n * first);
  account.keep(n * first * static_cast<double>(own.segment + 2 * width));
  for (size_t i = 0; i < segments.size(); ++i) {
    account.layer("block " + std::to_string(i + 1));
    if (i > 0) {
      const double rows = n * static_cast<double>(segments[i]);
      account.norm(own.merge * width, rows);
      account.linear("merging", own.merge * width, width, rows);
      account.keep(rows * static_cast<double>(2 * own.merge * width));
    }
    add_two_stages(account, config, series, segments[i]);
  }
  for (size_t i = 0; i <= segments.size(); ++i) {
    account.layer("block " + std::to_string(segments.size() + i + 1));
    add_two_stages(account, config, series, ahead);
    const double keys = i == 0 ? first : static_cast<double>(segments[i - 1]);
    add_token_attention(account, width, n * last, n * keys, n * last * keys);
    for (int layer = 0; layer < 2; ++layer) {
      account.linear("feed-forward", width, width, n * last);
      account.norm(width, n * last);
    }
    account.linear("head", width, own.segment * (forecast_outputs(shape) / shape.horizon), n * last);
    account.keep(n * last * static_cast<double>(6 * width + config.heads * static_cast<int64_t>(keys)));
  }
  return std::move(account).cost({series, segments.front()});
}

}  // namespace

ForecasterRow crossformer_row() {
  return {.name = "crossformer",
          .shared = {"precision", "width", "hidden", "layers", "heads", "dropout", "window"},
          .make = make_model<Crossformer>,
          .cost = crossformer_cost,
          .defaults = use_crossformer,
          .check = check_crossformer,
          .own = own_options<CrossformerConfig>};
}

}  // namespace modewise::models
