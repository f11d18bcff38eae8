#pragma once
// Seasonality test and seasonal adjustment, as used by the Theta method.

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::models {

/// Seasonality test of statsmodels' ThetaModel: n r_m² / Σ_{i<m} r_i² > 2.7055 (90 % quantile of χ² with one
/// degree of freedom), r_i the autocorrelation of `history` at lag i, m = `period`. False for a period of 1,
/// fewer than two periods, and constant histories.
bool is_seasonal(std::span<const double> history, int64_t period);

/// Seasonal component per phase; row t has phase t mod m.
struct Season {
  bool multiplicative = false;
  std::vector<double> factors;  // m; empty: none

  double take_off(double value, int64_t row) const;
  double put_back(double value, int64_t row) const;
};

/// Classical decomposition: the residual of a centred moving average over a period (half-weighted ends for
/// even periods), averaged by phase and normalized to mean 0 (multiplicative: 1). Needs two periods.
Season classical_season(std::span<const double> history, int64_t period, bool multiplicative);

/// Season of a seasonal history: multiplicative if all values and factors are positive, else additive; none
/// for a period of 1 or fewer than two periods.
Season season_of_history(std::span<const double> history, int64_t period);

}  // namespace modewise::models
