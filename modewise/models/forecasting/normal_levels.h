#pragma once
// Quantile levels and normal quantiles.

#include <vector>

#include "modewise/models/forecasting/forecaster.h"

namespace modewise::models {

/// The quantile levels of a shape, or evenly spaced ones if only their number is known.
std::vector<double> levels_of(const ForecastShape& shape);
/// Standard normal quantiles at these levels.
std::vector<double> normal_quantiles(const std::vector<double>& levels);

}  // namespace modewise::models
