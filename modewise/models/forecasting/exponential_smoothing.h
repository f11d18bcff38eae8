#pragma once
// Exponential smoothing as a state space model with one source of error (Hyndman, Koehler, Ord and Snyder,
// Forecasting with Exponential Smoothing, 2008): error, trend and season, each added or multiplied.
//
// Letters: n rows y, period m, level ℓ, trend b, season s of a row's phase, what the trend makes of the level
// q = ℓ, ℓ + φb or ℓ·b^φ, forecast ŷ = q, q + s or q·s, and r = y − ŷ.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/models/forecasting/step_forecast.h"

namespace modewise::models {

/// "ANN", "AAdA", "MAM": which parts there are and how they join. N: none, A: added, M: multiplied.
struct SmoothingForm {
  char error = 'A', trend = 'N', season = 'N';
  bool damped = false;

  std::string name() const;
  bool has_trend() const { return trend != 'N'; }
  bool has_season() const { return season != 'N'; }
  /// Whether something is multiplied, which wants positive values.
  bool multiplies() const { return error == 'M' || trend == 'M' || season == 'M'; }
};
/// The form of that name; a config error that `source` opens for any other text.
SmoothingForm smoothing_form(const std::string& name, const std::string& source);

struct SmoothingParameters {
  double alpha = 0.1, beta = 0, gamma = 0, phi = 1;
};

struct SmoothingStates {
  double level = 0, trend = 0;
  std::vector<double> season;  // m, a ring; empty without season
  size_t next = 0;             // its place for the next row
};

/// ŷ of the next row.
double next_forecast(const SmoothingForm& form, const SmoothingParameters& parameters,
                     const SmoothingStates& states);

/// The states after a row of `value`: ℓ' = q + αr/s; b' = φb + βr/s, or b^φ + βr/(sℓ); s' = s + γr/ℓ', where
/// an added season divides nothing: s' = s + γr. They are the same for both kinds of error. (In the book a
/// multiplied season is s + γr/q; here as Winters has it, and statsmodels.)
void smooth_row(const SmoothingForm& form, const SmoothingParameters& parameters, double value,
                SmoothingStates& states);

/// Smooths all rows; `states` become those after the last, `forecasts` [n] gets each row's ŷ.
void smooth(const SmoothingForm& form, const SmoothingParameters& parameters, std::span<const double> history,
            SmoothingStates& states, std::span<double> forecasts);

/// The mean square of the errors, r or r/ŷ.
double error_variance(const SmoothingForm& form, std::span<const double> history,
                      std::span<const double> forecasts);
/// −n/2 (log(2π error_variance) + 1), for multiplied errors less Σ log |ŷ|.
double log_likelihood(const SmoothingForm& form, std::span<const double> history,
                      std::span<const double> forecasts);

/// The next `horizon` steps without errors, and, of forms that multiply nothing, the deviation of the errors
/// by the book's formulas (Table 6.2).
StepForecast forecast_smoothing(const SmoothingForm& form, const SmoothingParameters& parameters,
                                SmoothingStates states, double variance, int64_t horizon);

/// Futures with errors √variance · `noise` [paths, horizon]: the same shape, with each row's values.
std::vector<double> simulate_smoothing(const SmoothingForm& form, const SmoothingParameters& parameters,
                                       const SmoothingStates& states, double variance, int64_t horizon,
                                       std::span<const double> noise);

}  // namespace modewise::models
