#pragma once
// Exponential smoothing as an innovations state space model (Hyndman, Koehler, Ord and Snyder, Forecasting
// with Exponential Smoothing, 2008): error, trend and season, each additive or multiplicative.
//
// Letters: n rows y, period m, level ℓ, trend b, season s of a row's phase, level with trend q = ℓ, ℓ + φb or
// ℓ·b^φ, forecast ŷ = q, q + s or q·s, and residual r = y − ŷ.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/models/forecasting/step_forecast.h"

namespace modewise::models {

/// Model form such as "ANN", "AAdA", "MAM": error, trend, season. N: none, A: additive, M: multiplicative.
struct SmoothingForm {
  char error = 'A', trend = 'N', season = 'N';
  bool damped = false;

  std::string name() const;
  bool has_trend() const { return trend != 'N'; }
  bool has_season() const { return season != 'N'; }
  /// Whether any part is multiplicative, which needs positive values.
  bool multiplies() const { return error == 'M' || trend == 'M' || season == 'M'; }
};
/// Parses a form name; a config error starting with `source` for any other text.
SmoothingForm smoothing_form(const std::string& name, const std::string& source);

struct SmoothingParameters {
  double alpha = 0.1, beta = 0, gamma = 0, phi = 1;
};

struct SmoothingStates {
  double level = 0, trend = 0;
  std::vector<double> season;  // m values, ring buffer; empty without season
  size_t next = 0;             // index of the next row's phase
};

/// Forecast ŷ of the next row.
double next_forecast(const SmoothingForm& form, const SmoothingParameters& parameters,
                     const SmoothingStates& states);

/// Updates the states with a row of `value`: ℓ' = q + αr/s; b' = φb + βr/s, or b^φ + βr/(sℓ); s' = s + γr/ℓ'.
/// An additive season divides nothing: s' = s + γr. The same for additive and multiplicative errors. (The
/// book's multiplicative season is s + γr/q; this is Winters' update, as in statsmodels.)
void smooth_row(const SmoothingForm& form, const SmoothingParameters& parameters, double value,
                SmoothingStates& states);

/// Filters all rows: `states` become those after the last row, `forecasts` [n] gets each row's ŷ.
void smooth(const SmoothingForm& form, const SmoothingParameters& parameters, std::span<const double> history,
            SmoothingStates& states, std::span<double> forecasts);

/// Mean square of the errors: r (additive) or r/ŷ (multiplicative).
double error_variance(const SmoothingForm& form, std::span<const double> history,
                      std::span<const double> forecasts);
/// Log-likelihood −n/2 (log(2π error_variance) + 1), minus Σ log |ŷ| for multiplicative errors.
double log_likelihood(const SmoothingForm& form, std::span<const double> history,
                      std::span<const double> forecasts);

/// Point forecast of the next `horizon` steps, and for additive forms the standard deviation of the errors by
/// the book's formulas (Table 6.2).
StepForecast forecast_smoothing(const SmoothingForm& form, const SmoothingParameters& parameters,
                                SmoothingStates states, double variance, int64_t horizon);

/// Simulated paths with errors √variance · `noise` [paths, horizon]; the result has the same shape.
std::vector<double> simulate_smoothing(const SmoothingForm& form, const SmoothingParameters& parameters,
                                       const SmoothingStates& states, double variance, int64_t horizon,
                                       std::span<const double> noise);

}  // namespace modewise::models
