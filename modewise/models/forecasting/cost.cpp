#include "modewise/models/forecasting/cost.h"

#include <algorithm>

namespace modewise::models {

int64_t forecast_outputs(const ForecastShape& shape) {
  return shape.horizon * std::max<int64_t>(shape.quantiles, 1);
}

void add_window_cost(nn::CostAccount& account, const WindowConfig& window, const ForecastShape& shape) {
  if (window.affine) account.add("window", 2 * shape.series_count(), 0);
  if (window.cycle > 0) account.add("window", window.cycle * shape.series_count(), 0);
}

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

nn::ModelCost forecaster_cost(const ForecasterConfig& config, const ForecastShape& shape,
                              Projection projection) {
  validate(config, shape);
  const auto cost = row_of(forecasters(), config.name).cost;
  return cost ? cost(config, shape, projection) : nn::ModelCost();
}

}  // namespace modewise::models
