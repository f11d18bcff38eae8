#pragma once
// What a forecaster costs, by formula from its options and sizes, without building it.
//
// A multiply-add is one product and one sum, as papers' "GFLOPS" count them: of matrix products, and one for
// each element of a normalisation's scale and of a gate. Softmax, rotary codes, additions alone and dropout
// count nothing. N tokens of N_1 × … × N_k, width D, H heads of width d, feed-forward M, L lookback, P
// patches.

#include "modewise/analysis/cost.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"

namespace modewise::analysis {

using ForecasterCost = ModelCost;

/// Config errors as models::validate gives them.
ForecasterCost forecaster_cost(const models::ForecasterConfig& config, const models::ForecastShape& shape,
                               Projection projection = Projection::pooled);

}  // namespace modewise::analysis
