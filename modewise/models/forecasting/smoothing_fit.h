#pragma once
// Exponential smoothing's parameters, first states and form from a history.

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/models/forecasting/exponential_smoothing.h"

namespace modewise::models {

struct SmoothingFit {
  SmoothingForm form;
  SmoothingParameters parameters;
  SmoothingStates start;  // before the first row; the season's mean is 0 (or 1)
  double likelihood = 0;  // log-likelihood
  double variance = 0;    // of its errors
  int64_t rows = 0;

  /// −2 log-likelihood with the small-sample penalty for k numbers that are fitted: parameters, states (of a
  /// season m − 1) and the variance. Infinite where n ≤ k + 1.
  double aicc() const;
};

/// Rows that first states of a form need: 10, and with season two periods and 10 beside half a period's ends.
int64_t min_rows(const SmoothingForm& form, int64_t period);

/// First states by the book's heuristic (section 2.6.1): the season of the first five periods at most by
/// classical decomposition, level and trend from a straight line through the first ten rows without it (of
/// fewer, all), moved back to the row before the first. Needs least_rows for a season.
SmoothingStates first_states(const SmoothingForm& form, std::span<const double> history, int64_t period);

/// What a fit minimises: −log-likelihood, up to a constant of the history, as a function of α, β/α, γ/(1−α),
/// φ, ℓ, b and the season, with its gradient. Infinite where a form that multiplies meets a forecast, level
/// or season that is not positive.
double smoothing_loss(const SmoothingForm& form, std::span<const double> history, std::span<const double> x,
                      std::span<double> gradient);

/// Parameters and first states of the largest likelihood, α, β/α and γ/(1−α) in [0.0001, 0.9999], φ in
/// [0.8, 0.98] (Hyndman's usual region): the best of four starts.
SmoothingFit fit_smoothing(const SmoothingForm& form, std::span<const double> history, int64_t period);

/// First states of the largest likelihood (a local one) for given parameters, which must be within
/// fit_smoothing's bounds. Where it is not defined at the heuristic's states (first_states), those.
SmoothingStates fit_states(const SmoothingForm& form, const SmoothingParameters& parameters,
                           std::span<const double> history, int64_t period);

/// The forms that are tried: errors, trends and seasons that are added, and, where all values are positive,
/// multiplied errors and seasons. Multiplied trends and added errors around a multiplied season, whose
/// forecasts have no finite variance, are left out (Hyndman and Khandakar 2008), as is a season that the rows
/// do not hold or that is longer than 366 of them, whose fit takes too long.
std::vector<SmoothingForm> forms_to_try(std::span<const double> history, int64_t period, int64_t lookback);

/// The fit of the smallest AICc; the first of equal ones.
SmoothingFit choose_smoothing(const std::vector<SmoothingForm>& forms, std::span<const double> history,
                              int64_t period);

}  // namespace modewise::models
