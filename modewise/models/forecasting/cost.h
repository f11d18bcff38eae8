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

// Costs of the rows of forecasters(). Only token models, and ensembles of them, have a projection.
nn::ModelCost token_forecaster_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                    Projection projection);
nn::ModelCost patchtst_cost(const ForecasterConfig& config, const ForecastShape& shape, Projection);
nn::ModelCost itransformer_cost(const ForecasterConfig& config, const ForecastShape& shape, Projection);
nn::ModelCost tide_cost(const ForecasterConfig& config, const ForecastShape& shape, Projection);
nn::ModelCost dlinear_cost(const ForecasterConfig& config, const ForecastShape& shape, Projection);
/// Cost of nlinear and rlinear.
nn::ModelCost linear_forecaster_cost(const ForecasterConfig& config, const ForecastShape& shape, Projection);
/// The sum of the members, which are frozen, so no activations are kept.
nn::ModelCost forecaster_members_cost(const ForecasterConfig& config, const ForecastShape& shape,
                                      Projection projection);

}  // namespace modewise::models
