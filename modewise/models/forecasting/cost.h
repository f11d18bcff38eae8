#pragma once
// Cost of forecasters, by formula from their options and sizes, without building them (conventions in
// nn/layers/cost.h).

#include "modewise/models/encoder_cost.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"

namespace modewise::models {

/// Cost of one window through one of forecasters(); none for models without trained parameters. Config errors
/// as validate.
nn::ModelCost forecaster_cost(const ForecasterConfig& config, const ForecastShape& shape,
                              Projection projection = Projection::pooled);

// Shared parts of the models' costs.
/// Outputs of a series: H, or H · Q.
int64_t forecast_outputs(const ForecastShape& shape);
/// Learned parameters of the window normalization.
void add_window_cost(nn::CostAccount& account, const WindowConfig& window, const ForecastShape& shape);
/// Standard transformer layers over `tokens` tokens per row, `rows` rows per sample.
void add_transformer_layers(nn::CostAccount& account, const ForecasterConfig& config, double rows,
                            double tokens);

}  // namespace modewise::models
