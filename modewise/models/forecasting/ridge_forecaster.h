#pragma once
// A linear map from all lags of a window to its forecast, by ridge regression in closed form.

#include <memory>
#include <span>
#include <vector>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/models/forecasting/window_sums.h"
#include "modewise/nn/initializer.h"
#include "modewise/nn/embedding/window_normalization.h"

namespace modewise::models {

/// y ≈ weight · x + bias of windows z = (x, y).
struct RidgeMap {
  at::Tensor weight, bias;  // [H, L], [H] float64
};

/// The ridge regressions of H steps on L lags for each penalty of `alphas`: the least Σ ‖y − Wx − b‖² + α
/// ‖W‖² over the windows of `sums`, whose W rows are L + H. Without windows weight and bias are 0.
std::vector<RidgeMap> ridge_maps(const WindowSums& sums, int64_t lookback, std::span<const double> alphas);

/// Σ (y − Wx − b)² over the windows of `sums`, for each step [H].
at::Tensor squared_errors(const WindowSums& sums, const RidgeMap& map);

/// Windows less their last value or mean (window.centre), one map for all series or one a series, fitted at
/// once to the training windows of which every cell was observed. The penalty, in units of the windows' mean
/// Σ x² of a lag, is baseline.ridge, or the one of 10^−6, 10^−5.5 … 10^2 with the smallest squared error over
/// the validation windows. Quantiles are those of normal errors with each step's deviation over the
/// validation windows (the training windows where there are none).
class RidgeForecaster : public Forecaster {
 public:
  RidgeForecaster(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

  at::Tensor forward(const ForecastInput& input) override;
  void fit(const FittingRows& rows) override;

 private:
  void fit_map(int64_t map, WindowSums training, WindowSums validation);

  std::string centre_;
  bool individual_;
  double penalty_;
  std::shared_ptr<nn::WindowNormalization> window_;
  at::Tensor weight_, bias_, stddev_;  // [M, H, L], [M, H], [M, H] with M maps: 1, or one a series
  at::Tensor penalties_;                  // [M] float64: those that were taken
  at::Tensor normal_;                     // [Q] float64; undefined for point forecasts
};

}  // namespace modewise::models
