#pragma once
// Quantiles of normal errors.

#include <vector>

#include "modewise/models/forecasting/forecaster.h"

namespace modewise::models {

/// The levels of a shape's quantiles, or, where only their number is known, as many that stand evenly.
std::vector<double> levels_of(const ForecastShape& shape);
/// The standard normal distribution's quantiles of those levels.
std::vector<double> normal_quantiles(const std::vector<double>& levels);

}  // namespace modewise::models
