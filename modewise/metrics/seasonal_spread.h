#pragma once
// Spread of forecast errors by phase of the season, such as the hour of the day: small for solar radiation at
// night, large at noon. Conformity scores are divided by it (conformal.h).

#include <cstdint>
#include <vector>

#include "modewise/metrics/conformal.h"

namespace modewise::metrics {

/// Phase of a row, also of a negative one: row mod season, from 0.
inline int64_t season_phase(int64_t row, int64_t season) {
  return (row % season + season) % season;
}

/// Spreads [S, season] of the windows [first, last), positive, with mean 1 in each series: power means with
/// exponent ½ of the absolute errors; for quantile models of the errors from the middle of the innermost
/// interval, divided by half its width, so that a model whose widths follow the season has equal spreads.
///
/// 1. v = √|error|, divided by its mean for the series and step; q[row] is the mean of v over the windows and
///    steps of a target row, so that each row counts once.
/// 2. A phase pools the rows of its season / 48 neighbours on both sides, circularly. Its mean is shrunk
///    toward the series' mean of q, which counts as four rows.
/// 3. spread = mean², at least 0.02 of the mean spread; then the mean becomes 1.
///
/// A series without scores, or without errors, has spread 1.
std::vector<float> seasonal_spread(const CalibrationSample& sample, int64_t first, int64_t last);

}  // namespace modewise::metrics
