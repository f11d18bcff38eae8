#include "modewise/models/forecasting/cost.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "modewise/models/forecasting/ensemble.h"
#include "modewise/models/forecasting/token_forecaster.h"

namespace modewise::models {
namespace {

int64_t forecast_outputs(const ForecastShape& shape) {
  return shape.horizon * std::max<int64_t>(shape.quantiles, 1);
}

void add_window_cost(nn::CostAccount& account, const WindowConfig& window, const ForecastShape& shape) {
  if (window.affine) account.add("window", 2 * shape.series_count(), 0);
  if (window.cycle > 0) account.add("window", window.cycle * shape.series_count(), 0);
}

/// Number of series positions with their own future covariates.
double covariate_places(const ForecastShape& shape) {
  return static_cast<double>(std::accumulate(shape.series.begin(), shape.series.begin() + shape.known_modes,
                                             int64_t{1}, std::multiplies<>()));
}

/// Effect of future covariates, subtracted from the window and added to the forecast
/// (nn/embedding/future_covariate_effect.h).
void add_covariate_effect_cost(nn::CostAccount& account, const ForecasterConfig& config,
                               const ForecastShape& shape) {
  if (shape.known == 0) return;
  const auto steps = static_cast<double>(shape.lookback + shape.horizon);
  const int64_t terms = shape.known + config.known.width, series = shape.series_count();
  account.layer("future covariates");
  if (config.known.width > 0)
    account.linear("future covariates", shape.known, config.known.width, covariate_places(shape) * steps);
  account.add("future covariates", series * terms, static_cast<double>(series * terms) * steps);
  account.keep(covariate_places(shape) * steps * static_cast<double>(terms));
}

void add_head_cost(nn::CostAccount& account, const ForecasterConfig& config, const ForecastShape& shape,
                   double tokens, int64_t patches) {
  const auto series = static_cast<double>(shape.series_count());
  const bool flat = config.head.time == "flatten", pooled = config.head.time == "mean";
  account.layer("head");
  if (config.head.norm) account.norm(config.width, pooled ? series : tokens);
  if (config.head.time == "attention") {
    account.linear("head", config.width, config.heads, tokens, false);
    account.add("head", 0, tokens * static_cast<double>(config.width));
  }
  account.linear("head", flat ? config.width * patches : config.width, forecast_outputs(shape), series);
  if (config.head.skip != "none") {
    const int64_t maps = config.head.skip == "individual" ? shape.series_count() : 1;
    account.add("head", maps * (shape.lookback + 1) * forecast_outputs(shape),
                series * static_cast<double>(shape.lookback * forecast_outputs(shape)));
  }
  account.keep(2 * tokens * static_cast<double>(config.width));
}

/// Standard transformer layers over `tokens` tokens per row, `rows` rows per sample.
void add_transformer_layers(nn::CostAccount& account, const ForecasterConfig& config, double rows,
                            double tokens) {
  const int64_t width = config.width;
  const double all = rows * tokens, d = static_cast<double>(width);
  for (int64_t block = 0; block < config.blocks; ++block) {
    account.layer("block " + std::to_string(block + 1));
    for (int i = 0; i < 4; ++i)
      account.linear(i < 2 ? "query and key" : "value and output", width, width, all);
    account.add("scores and mixing", 0, 2 * all * tokens * d);
    account.linear("feed-forward", width, config.hidden, all);
    account.linear("feed-forward", config.hidden, width, all);
    account.norm(width, all);
    account.norm(width, all);
    account.keep(all * (9 * d + 2 * static_cast<double>(config.hidden)) +
                 rows * tokens * tokens * static_cast<double>(config.heads));
  }
}

/// Linear maps from the window to the forecast, one per branch.
nn::ModelCost linear_branches_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                   int64_t branches) {
  nn::CostAccount account(config.precision);
  account.layer("linear");
  const int64_t maps = config.individual ? shape.series_count() : 1;
  const auto series = static_cast<double>(shape.series_count());
  add_window_cost(account, config.window, shape);
  account.add("linear", branches * maps * (shape.lookback + 1) * forecast_outputs(shape),
              static_cast<double>(branches * shape.lookback * forecast_outputs(shape)) * series);
  account.keep(series * static_cast<double>(branches * shape.lookback));
  return std::move(account).cost({});
}

}  // namespace

nn::ModelCost token_forecaster_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                    Projection projection) {
  const TokenShape tokens = token_shape(config, shape);
  const double count = nn::cell_count(tokens.sizes);
  nn::CostAccount account(config.precision);
  account.layer("embedding");
  add_window_cost(account, config.window, shape);
  const int64_t channels = shape.missing ? 2 : 1;
  account.linear("embedding", channels * config.patch.length, config.width, count);
  if (config.patch.embedding == "relu_norm") account.norm(config.width, count);
  account.keep(count * static_cast<double>(channels * config.patch.length));
  add_codes(account, config, tokens);
  add_blocks(account, config, config.name, tokens, projection);
  add_head_cost(account, config, shape, count, tokens.sizes.back());
  add_covariate_effect_cost(account, config, shape);
  return std::move(account).cost(tokens.sizes);
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

nn::ModelCost itransformer_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                Projection /*projection*/) {
  nn::CostAccount account(config.precision);
  account.layer("embedding");
  add_window_cost(account, config.window, shape);
  const auto series = static_cast<double>(shape.series_count());
  account.linear("embedding", shape.lookback, config.width, series);
  account.keep(series * static_cast<double>(shape.lookback + 2 * config.width));
  add_transformer_layers(account, config, 1, series);
  account.layer("head");
  account.norm(config.width, series);
  account.linear("head", config.width, forecast_outputs(shape), series);
  return std::move(account).cost({shape.series_count()});
}

nn::ModelCost tide_cost(const ForecasterConfig& config, const ForecastShape& shape,
                        Projection /*projection*/) {
  nn::CostAccount account(config.precision);
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
    block("future covariates", shape.known, config.hidden, known, covariate_places(shape) * steps,
          config.tide.norm);
  int64_t in = (shape.missing ? 2 : 1) * lookback + known * (lookback + horizon);
  for (int64_t i = 0; i < 2 * config.blocks; ++i, in = width) {
    account.layer("block " + std::to_string(i + 1));
    const bool last = i == 2 * config.blocks - 1;
    block(i < config.blocks ? "encoder" : "decoder", in, width,
          last ? config.tide.step_width * horizon : width, series, config.tide.norm);
  }
  account.layer("head");
  block("temporal decoder", config.tide.step_width + known, config.hidden, forecast_outputs(shape) / horizon,
        series * static_cast<double>(horizon), false);
  account.linear("residual", lookback, forecast_outputs(shape), series);
  return std::move(account).cost({});
}

nn::ModelCost dlinear_cost(const ForecasterConfig& config, const ForecastShape& shape,
                           Projection /*projection*/) {
  return linear_branches_cost(config, shape, 2);
}

nn::ModelCost linear_forecaster_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                     Projection /*projection*/) {
  return linear_branches_cost(config, shape, 1);
}

nn::ModelCost forecaster_members_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                      Projection projection) {
  nn::ModelCost out;
  for (const std::string& text : config.ensemble.members) {
    const EnsembleMember member = EnsembleMember::from_toml(text, "model.ensemble.members");
    ForecastShape of_member = shape;
    of_member.lookback = member.lookback;
    add_parts(out, forecaster_cost(member.model, of_member, projection));
  }
  return out;
}

nn::ModelCost forecaster_cost(const ForecasterConfig& config, const ForecastShape& shape,
                              Projection projection) {
  validate(config, shape);
  const auto cost = row_of(forecasters(), config.name).cost;
  return cost ? cost(config, shape, projection) : nn::ModelCost();
}

}  // namespace modewise::models
