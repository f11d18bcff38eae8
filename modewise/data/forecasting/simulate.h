#pragma once
// Simulated systems: known dynamics, known noise, any length, from a seed. Integration is float64; every
// random number is counter-based (site 1), so a series depends on its parameters and seed alone.

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

/// Expected MSE, on `scaler`'s scale, of the perfect forecaster of simulate_seasonal at steps 1…horizon: the
/// one that knows seasons, trend and the last noise value. Mean over variables; its own mean is the floor of
/// a table.
std::vector<double> seasonal_noise_floor(const SeasonalConfig& config, const Scaler& scaler, int64_t horizon);

/// Hides each observed cell with probability `fraction`.
void knock_out(Series& series, double fraction, uint64_t seed);

}  // namespace modewise::data
