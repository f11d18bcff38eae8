#include "modewise/analysis/forecaster_cost.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "modewise/models/forecasting/ensemble.h"
#include "modewise/nn/embedding/patch_embedding.h"
#include "modewise/ops/attention/kronecker_attention.h"

namespace modewise::analysis {
namespace {

using models::ForecasterConfig;
using models::ForecastShape;

int64_t outputs(const ForecastShape& shape) {
  return shape.horizon * std::max<int64_t>(shape.quantiles, 1);
}

void add_window(CostAccount& account, const models::WindowConfig& window, const ForecastShape& shape) {
  if (window.affine) account.add("window", 2 * shape.series_count(), 0);
  if (window.cycle > 0) account.add("window", window.cycle * shape.series_count(), 0);
}

/// Number of series positions with their own future covariates.
double known_places(const ForecastShape& shape) {
  return static_cast<double>(std::accumulate(shape.series.begin(), shape.series.begin() + shape.known_modes,
                                             int64_t{1}, std::multiplies<>()));
}

/// Effect of future covariates, subtracted from the window and added to the forecast
/// (nn/embedding/future_covariate_effect.h).
void add_future_covariate_effect(CostAccount& account, const ForecasterConfig& config,
                                 const ForecastShape& shape) {
  if (shape.known == 0) return;
  const auto steps = static_cast<double>(shape.lookback + shape.horizon);
  const int64_t terms = shape.known + config.known.width, series = shape.series_count();
  account.layer("future covariates");
  if (config.known.width > 0)
    account.linear("future covariates", shape.known, config.known.width, known_places(shape) * steps);
  account.add("future covariates", series * terms, static_cast<double>(series * terms) * steps);
  account.keep(known_places(shape) * steps * static_cast<double>(terms));
}

models::TokenShape tokens_of(const ForecasterConfig& config, const ForecastShape& shape) {
  models::TokenShape tokens;
  tokens.sizes = shape.series;
  for (size_t mode = 0; mode < shape.ordered.size(); ++mode)
    if (shape.ordered[mode]) tokens.ordered_modes.push_back(static_cast<int64_t>(mode));
  tokens.ordered_modes.push_back(tokens.modes());
  tokens.sizes.push_back(nn::patch_count(shape.lookback, config.patch.length, config.patch.stride));
  return tokens;
}

void add_head(CostAccount& account, const ForecasterConfig& config, const ForecastShape& shape, double tokens,
              int64_t patches) {
  const auto series = static_cast<double>(shape.series_count());
  const bool flat = config.head.time == "flatten", pooled = config.head.time == "mean";
  account.layer("head");
  if (config.head.norm) account.norm(config.width, pooled ? series : tokens);
  if (config.head.time == "attention") {
    account.linear("head", config.width, config.heads, tokens, false);
    account.add("head", 0, tokens * static_cast<double>(config.width));
  }
  account.linear("head", flat ? config.width * patches : config.width, outputs(shape), series);
  if (config.head.skip != "none") {
    const int64_t maps = config.head.skip == "individual" ? shape.series_count() : 1;
    account.add("head", maps * (shape.lookback + 1) * outputs(shape),
                series * static_cast<double>(shape.lookback * outputs(shape)));
  }
  account.keep(2 * tokens * static_cast<double>(config.width));
}

double bytes_of(const ForecasterConfig& config) {
  return config.precision == "bf16" ? 2 : 4;
}

/// Token models: hot, transformer, spatial, temporal.
ForecasterCost token_cost(const ForecasterConfig& config, const ForecastShape& shape, Projection projection) {
  const models::TokenShape tokens = tokens_of(config, shape);
  double count = 1;
  for (const int64_t size : tokens.sizes) count *= static_cast<double>(size);
  CostAccount account(bytes_of(config));
  account.layer("embedding");
  add_window(account, config.window, shape);
  const int64_t channels = shape.missing ? 2 : 1;
  account.linear("embedding", channels * config.patch.length, config.width, count);
  if (config.patch.embedding == "relu_norm") account.norm(config.width, count);
  account.keep(count * static_cast<double>(channels * config.patch.length));
  add_codes(account, config, tokens);
  add_blocks(account, config, config.name, tokens, projection);
  add_head(account, config, shape, count, tokens.sizes.back());
  add_future_covariate_effect(account, config, shape);
  return std::move(account).cost(tokens.sizes);
}

ForecasterCost linear_cost(const ForecasterConfig& config, const ForecastShape& shape) {
  CostAccount account(bytes_of(config));
  account.layer("linear");
  const int64_t maps = config.baseline.individual ? shape.series_count() : 1;
  const int64_t branches = config.name == "dlinear" ? 2 : 1;
  const auto series = static_cast<double>(shape.series_count());
  add_window(account, config.window, shape);
  account.add("linear", branches * maps * (shape.lookback + 1) * outputs(shape),
              static_cast<double>(branches * shape.lookback * outputs(shape)) * series);
  account.keep(series * static_cast<double>(branches * shape.lookback));
  return std::move(account).cost({});
}

/// Standard transformer layers over `tokens` tokens per row, `rows` rows per sample.
void add_layers(CostAccount& account, const ForecasterConfig& config, double rows, double tokens) {
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

ForecasterCost patchtst_cost(const ForecasterConfig& config, const ForecastShape& shape) {
  CostAccount account(bytes_of(config));
  account.layer("embedding");
  add_window(account, config.window, shape);
  const int64_t patches = (shape.lookback - config.patch.length) / config.patch.stride + 2;
  const auto series = static_cast<double>(shape.series_count()), p = static_cast<double>(patches);
  account.linear("embedding", config.patch.length, config.width, series * p);
  account.add("position embeddings", patches * config.width, 0);
  account.keep(series * p * static_cast<double>(config.patch.length + config.width));
  add_layers(account, config, series, p);
  account.layer("head");
  account.linear("head", patches * config.width, outputs(shape), series);
  return std::move(account).cost({patches});
}

ForecasterCost itransformer_cost(const ForecasterConfig& config, const ForecastShape& shape) {
  CostAccount account(bytes_of(config));
  account.layer("embedding");
  add_window(account, config.window, shape);
  const auto series = static_cast<double>(shape.series_count());
  account.linear("embedding", shape.lookback, config.width, series);
  account.keep(series * static_cast<double>(shape.lookback + 2 * config.width));
  add_layers(account, config, 1, series);
  account.layer("head");
  account.norm(config.width, series);
  account.linear("head", config.width, outputs(shape), series);
  return std::move(account).cost({shape.series_count()});
}

ForecasterCost tide_cost(const ForecasterConfig& config, const ForecastShape& shape) {
  CostAccount account(bytes_of(config));
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
  add_window(account, config.window, shape);
  const double steps = static_cast<double>(lookback + horizon);
  if (known > 0)
    block("future covariates", shape.known, config.hidden, known, known_places(shape) * steps,
          config.tide.norm);
  int64_t in = (shape.missing ? 2 : 1) * lookback + known * (lookback + horizon);
  for (int64_t i = 0; i < 2 * config.blocks; ++i, in = width) {
    account.layer("block " + std::to_string(i + 1));
    const bool last = i == 2 * config.blocks - 1;
    block(i < config.blocks ? "encoder" : "decoder", in, width,
          last ? config.tide.step_width * horizon : width, series, config.tide.norm);
  }
  account.layer("head");
  block("temporal decoder", config.tide.step_width + known, config.hidden, outputs(shape) / horizon,
        series * static_cast<double>(horizon), false);
  account.linear("residual", lookback, outputs(shape), series);
  return std::move(account).cost({});
}

/// Sum of all members; frozen, so no activations are kept.
ForecasterCost ensemble_cost(const ForecasterConfig& config, const ForecastShape& shape,
                             Projection projection) {
  ForecasterCost out;
  for (const std::string& text : config.ensemble.members) {
    const models::EnsembleMember member = models::EnsembleMember::from_toml(text, "model.ensemble.members");
    ForecastShape of_member = shape;
    of_member.lookback = member.lookback;
    add_parts(out, forecaster_cost(member.model, of_member, projection));
  }
  return out;
}

}  // namespace

ForecasterCost forecaster_cost(const ForecasterConfig& config, const ForecastShape& shape,
                               Projection projection) {
  models::validate(config, shape);
  const std::string& name = config.name;
  if (name == "dlinear" || name == "nlinear" || name == "rlinear") return linear_cost(config, shape);
  if (name == "ensemble") return ensemble_cost(config, shape, projection);
  if (name == "tide") return tide_cost(config, shape);
  if (name == "patchtst") return patchtst_cost(config, shape);
  if (name == "itransformer") return itransformer_cost(config, shape);
  if (!models::is_token_model(name)) return {};  // no trained parameters
  return token_cost(config, shape, projection);
}

}  // namespace modewise::analysis
