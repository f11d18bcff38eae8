#pragma once
// Cost of forecasters, by formula from their options and sizes, without building them.
//
// A multiply-add (MAC) is one product and one sum, as papers' "GFLOPS" count them: those of matrix products,
// plus one per element of a normalisation's scale and of a gate. Softmax, rotary embedding, plain additions
// and dropout are not counted. N tokens of N_1 × … × N_k, width D, H heads of width d, feed-forward M, L
// lookback, P patches.

#include "modewise/analysis/cost.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"

namespace modewise::analysis {

using ForecasterCost = ModelCost;

/// Config errors as models::validate.
ForecasterCost forecaster_cost(const models::ForecasterConfig& config, const models::ForecastShape& shape,
                               Projection projection = Projection::pooled);

}  // namespace modewise::analysis
