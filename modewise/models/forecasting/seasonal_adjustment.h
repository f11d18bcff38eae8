#pragma once
// A season is found in a history and taken off it, as the Theta method wants it.

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::models {

/// Whether n r_m² / Σ_{i<m} r_i² is beyond 2.7055, the 90 % quantile of χ² with one degree of freedom, with
/// r_i the autocorrelation of `history` at lag i and m = `period` (statsmodels' ThetaModel). False for a
/// period of 1, fewer than two periods, and a history that is constant.
bool is_seasonal(std::span<const double> history, int64_t period);

/// The season of each phase; row t has phase t mod m.
struct Season {
  bool multiplicative = false;
  std::vector<double> factors;  // m; empty: none

  double take_off(double value, int64_t row) const;
  double put_back(double value, int64_t row) const;
};

/// Classical decomposition: what a centred moving average over a period (its ends half weighted where the
/// period is even) leaves, averaged by phase, with a mean of 0 (or 1). Needs two periods.
Season classical_season(std::span<const double> history, int64_t period, bool multiplicative);

/// The season of a history that has one: multiplicative where all values and factors are positive, else
/// additive; none for a period of 1 and fewer than two periods.
Season season_of_history(std::span<const double> history, int64_t period);

}  // namespace modewise::models
