#pragma once
// Simulated systems with known dynamics and noise, of any length. Integration is float64; random numbers are
// counter-based (site 1), so a series depends only on its parameters and seed.

#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/scaler.h"
#include "modewise/data/forecasting/series.h"

namespace modewise::data {

/// [rows, K, 2] (slow, fast mean) or [rows, K, 1 + J]; modes site and variable. Sites are not marked as
/// ordered: a ring has no first site.
Series simulate_lorenz96(const Lorenz96Config& config, int64_t rows, uint64_t seed);
/// [rows, sites].
Series simulate_logistic(const LogisticConfig& config, int64_t rows, uint64_t seed);
/// [rows, variables].
Series simulate_seasonal(const SeasonalConfig& config, int64_t rows, uint64_t seed);

/// Expected MSE, in scaled units, of the optimal forecast of simulate_seasonal at steps 1…horizon, which
/// knows seasons, trend and the last noise value. Mean over variables; the mean over steps is the lower bound
/// for a table.
std::vector<double> seasonal_noise_floor(const SeasonalConfig& config, const Scaler& scaler, int64_t horizon);

/// Masks each observed cell with probability `fraction`.
void knock_out(Series& series, double fraction, uint64_t seed);

}  // namespace modewise::data
