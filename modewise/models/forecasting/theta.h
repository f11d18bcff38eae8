#pragma once
// Theta method (Assimakopoulos and Nikolopoulos 2000): simple exponential smoothing plus a fraction of the
// slope of the linear trend through the history.
//
// Letters: n rows y_1…y_n, level ℓ, smoothing parameter α, weight ω = 1 − 1/θ of the line A + B·t.

#include <cstdint>
#include <span>

#include "modewise/models/forecasting/step_forecast.h"

namespace modewise::models {

/// standard: θ = 2 as in Hyndman and Billah (2003), α from simple exponential smoothing started at y_1.
/// optimised: ℓ_0, α and θ ≥ 1 by least squares (Fiorucci et al. 2016, OTM). dynamic: the same with the line
/// through the rows so far at each row (DOTM).
enum class ThetaForm { standard, optimised, dynamic };

/// A fitted Theta method.
struct Theta {
  ThetaForm form = ThetaForm::standard;
  double alpha = 0, level = 0, weight = 0;  // α, ℓ_0, ω
  double squares = 0;                       // Σ (y_t − μ_t)²; standard: of the smoothing only
};

/// Optimal level and weight for a given α by linear least squares, ω limited to [0, 1]. (standard: level y_1
/// and ω = ½.)
Theta theta_with(ThetaForm form, std::span<const double> history, double alpha);
/// Fit with the best α in [0.0001, 0.9999] (standard) or [0.1, 0.99] (the bounds of OTM's authors).
Theta fit_theta(ThetaForm form, std::span<const double> history);

/// Forecast of the `horizon` steps after the history; the standard deviation of step h's error is
/// σ √(1 + (h − 1) α²) with σ² = squares / n.
StepForecast forecast_theta(const Theta& theta, std::span<const double> history, int64_t horizon);

}  // namespace modewise::models
