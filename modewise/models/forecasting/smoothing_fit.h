#pragma once
// Fitting exponential smoothing: parameters, initial states and model form from a history.

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/models/forecasting/exponential_smoothing.h"

namespace modewise::models {

struct SmoothingFit {
  SmoothingForm form;
  SmoothingParameters parameters;
  SmoothingStates start;  // initial states; the season's mean is 0 (multiplicative: 1)
  double likelihood = 0;  // log-likelihood
  double variance = 0;    // of its errors
  int64_t rows = 0;

  /// AICc: −2 log-likelihood with the small-sample penalty for k fitted numbers: parameters, states (m − 1
  /// for a season) and the variance. Infinite if n ≤ k + 1.
  double aicc() const;
};

/// Minimum rows for initial states: 10; with season, two periods and 10 rows besides half a period at each
/// end.
int64_t min_rows(const SmoothingForm& form, int64_t period);

/// Heuristic initial states of the book (section 2.6.1): season from a classical decomposition of at most the
/// first five periods; level and trend from a line through the first ten seasonally adjusted rows (fewer if
/// shorter), extrapolated to the row before the first. A season needs min_rows.
SmoothingStates first_states(const SmoothingForm& form, std::span<const double> history, int64_t period);

/// Objective of the fit: negative log-likelihood up to a constant of the history, as a function of α, β/α,
/// γ/(1−α), φ, ℓ, b and the season, with its gradient. Infinite if a multiplicative form has a non-positive
/// forecast, level or season.
double smoothing_loss(const SmoothingForm& form, std::span<const double> history, std::span<const double> x,
                      std::span<double> gradient);

/// Maximum-likelihood parameters and initial states, α, β/α and γ/(1−α) in [0.0001, 0.9999], φ in [0.8, 0.98]
/// (Hyndman's usual region): the best of four starts.
SmoothingFit fit_smoothing(const SmoothingForm& form, std::span<const double> history, int64_t period);

/// Maximum-likelihood initial states (local optimum) for given parameters, which must be within
/// fit_smoothing's bounds. Falls back to first_states where the likelihood is undefined there.
SmoothingStates fit_states(const SmoothingForm& form, const SmoothingParameters& parameters,
                           std::span<const double> history, int64_t period);

/// Candidate forms: additive errors, trends and seasons, and for positive values multiplicative errors and
/// seasons. Excluded: multiplicative trends and additive errors with a multiplicative season, whose forecasts
/// have no finite variance (Hyndman and Khandakar 2008); seasons with too few rows, or longer than 366 rows,
/// whose fit takes too long.
std::vector<SmoothingForm> forms_to_try(std::span<const double> history, int64_t period, int64_t lookback);

/// The fit with the smallest AICc; ties go to the first.
SmoothingFit choose_smoothing(const std::vector<SmoothingForm>& forms, std::span<const double> history,
                              int64_t period);

}  // namespace modewise::models
