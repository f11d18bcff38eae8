// TiDE (Das et al., "Long-term Forecasting with TiDE: Time-series Dense Encoder", TMLR 2023), channel
// independent: future covariates are projected per step, encoded together with the window, decoded to a
// vector per step of the horizon, and concatenated with that step's covariates in the temporal decoder; plus
// a linear residual connection from the window.

#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>

#include <memory>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/nn/layers/module_list.h"
#include "modewise/nn/layers/residual_block.h"

namespace modewise::models {
namespace {

struct TideConfig {
  int64_t step_width = 8;  // p: decoder outputs per step
  bool norm = true;        // LayerNorm after each residual block but the last
  void fields(Fields& fields);
};

void TideConfig::fields(Fields& f) {
  f.add("step_width", step_width, "decoder outputs per step of the horizon", {.min = 1, .max = 65536});
  f.add("norm", norm, "LayerNorm after the residual blocks");
}

class Tide : public LearnedForecaster {
 public:
  Tide(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  using Blocks = nn::ModuleList<nn::ResidualBlock>;
  /// Projected future covariates per series: [B, N, L + H, r].
  at::Tensor projected(const ForecastInput& input, at::ScalarType type) const;

  bool bfloat16_;
  int64_t step_width_;  // p: decoder outputs per step
  std::shared_ptr<nn::ResidualBlock> features_;
  std::shared_ptr<Blocks> encoder_, decoder_;
  std::shared_ptr<nn::ResidualBlock> temporal_;
  std::shared_ptr<nn::Linear> residual_;
};

Tide::Tide(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init)
    : LearnedForecaster(shape, config.window),
      bfloat16_(config.precision == "bf16"),
      step_width_(config.own.of<TideConfig>().step_width),
      encoder_(register_module("encoder", std::make_shared<Blocks>())),
      decoder_(register_module("decoder", std::make_shared<Blocks>())) {
  const int64_t width = config.width, known = shape.known > 0 ? config.known.width : 0;
  const auto block = [&](int64_t in, int64_t hidden, int64_t out, bool norm) {
    return std::make_shared<nn::ResidualBlock>(init, in, hidden, out, config.dropout, norm);
  };
  const bool norm = config.own.of<TideConfig>().norm;
  if (known > 0) features_ = register_module("features", block(shape.known, config.hidden, known, norm));
  int64_t in = (shape.missing ? 2 : 1) * shape.lookback + known * (shape.lookback + shape.horizon);
  for (int64_t i = 0; i < config.blocks; ++i, in = width) encoder_->push_back(block(in, width, width, norm));
  for (int64_t i = 1; i < config.blocks; ++i) decoder_->push_back(block(width, width, width, norm));
  decoder_->push_back(block(width, width, step_width_ * shape.horizon, norm));
  // No norm: LayerNorm over the single output per step would erase it.
  temporal_ = register_module("temporal",
                              block(step_width_ + known, config.hidden, outputs() / shape.horizon, false));
  residual_ = register_module("residual", std::make_shared<nn::Linear>(init, shape.lookback, outputs()));
}

at::Tensor Tide::projected(const ForecastInput& input, at::ScalarType type) const {
  const at::Tensor known = checked_known(input);
  const at::Tensor by_place = known.reshape({known.size(0), -1, known.size(-2), known.size(-1)});
  const at::Tensor x = features_->forward(by_place.to(type).transpose(-2, -1));
  const int64_t series = shape().series_count(), batch = x.size(0), places = x.size(1);
  return x.unsqueeze(2)
      .expand({batch, places, series / places, x.size(2), x.size(3)})
      .reshape({batch, series, x.size(2), x.size(3)});
}

at::Tensor Tide::raw_forecast(const at::Tensor& values, const ForecastInput& input) {
  const int64_t lookback = shape().lookback, horizon = shape().horizon;
  const at::Tensor window = values.flatten(1, -2).to(bfloat16_ ? at::kBFloat16 : values.scalar_type());
  std::vector<at::Tensor> parts = {window};  // [B, N, ·]
  if (shape().missing)
    parts.push_back(input.observed.defined() ? input.observed.flatten(1, -2).to(window.scalar_type())
                                             : at::ones_like(window));
  at::Tensor known;
  if (features_) {
    known = projected(input, window.scalar_type());
    parts.push_back(known.flatten(2));
  }
  at::Tensor x = at::cat(parts, -1);
  for (const auto& block : *encoder_) x = block->forward(x);
  for (const auto& block : *decoder_) x = block->forward(x);
  x = x.view({x.size(0), x.size(1), horizon, step_width_});
  if (features_) x = at::cat({x, known.narrow(2, lookback, horizon)}, -1);
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = outputs();
  return (temporal_->forward(x).flatten(2) + residual_->forward(window)).view(sizes);
}

/// Sizes within the authors' search range.
void use_tide(ForecasterConfig& config) {
  config.width = 256;
  config.hidden = 64;
  config.blocks = 2;
  config.dropout = 0.3;
  config.window.affine = true;
  config.known.width = 4;
}

void check_tide(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  // LayerNorm over two values keeps only their order, over one value nothing.
  const bool norm = config.own.of<TideConfig>().norm;
  const int64_t minimum = norm ? 3 : 1;
  require(shape.known == 0 || config.known.width >= minimum, ErrorKind::config,
          "{}: future_covariates.width must be at least {} for tide with future covariates{}, got {}", source,
          minimum, norm ? " with tide.norm" : "", config.known.width);
}

nn::ModelCost tide_cost(const ForecasterConfig& config, const ForecastShape& shape,
                        Projection /*projection*/) {
  nn::CostAccount account(config.precision);
  const TideConfig& tide = config.own.of<TideConfig>();
  const int64_t width = config.width, lookback = shape.lookback, horizon = shape.horizon;
  const int64_t known = shape.known > 0 ? config.known.width : 0;
  const auto series = static_cast<double>(shape.series_count());
  const auto block = [&](const std::string& name, int64_t in, int64_t hidden, int64_t out, double rows,
                         bool norm) {
    account.linear(name, in, hidden, rows);
    account.linear(name, hidden, out, rows);
    account.linear(name, in, out, rows);
    if (norm) account.norm(out, rows);
    account.keep(rows * static_cast<double>(in + hidden + out));
  };
  account.layer("embedding");
  add_window_cost(account, config.window, shape);
  const double steps = static_cast<double>(lookback + horizon);
  if (known > 0)
    block("future covariates", shape.known, config.hidden, known,
          static_cast<double>(shape.covariate_places()) * steps, tide.norm);
  int64_t in = (shape.missing ? 2 : 1) * lookback + known * (lookback + horizon);
  for (int64_t i = 0; i < 2 * config.blocks; ++i, in = width) {
    account.layer("block " + std::to_string(i + 1));
    const bool last = i == 2 * config.blocks - 1;
    block(i < config.blocks ? "encoder" : "decoder", in, width, last ? tide.step_width * horizon : width,
          series, tide.norm);
  }
  account.layer("head");
  block("temporal decoder", tide.step_width + known, config.hidden, forecast_outputs(shape) / horizon,
        series * static_cast<double>(horizon), false);
  account.linear("residual", lookback, forecast_outputs(shape), series);
  return std::move(account).cost({});
}

}  // namespace

ForecasterRow tide_row() {
  return {.name = "tide",
          .shared = {"precision", "width", "hidden", "layers", "dropout", "window", "future_covariates"},
          .make = make_model<Tide>,
          .cost = tide_cost,
          .defaults = use_tide,
          .check = check_tide,
          .own = own_options<TideConfig>};
}

}  // namespace modewise::models
