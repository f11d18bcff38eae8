// Theta forecaster: the Theta method per series.

#include <ATen/ops/ones.h>

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/local_forecaster.h"
#include "modewise/models/forecasting/seasonal_adjustment.h"
#include "modewise/models/forecasting/theta.h"

namespace modewise::models {
namespace {

/// Theta method, refitted to each window. If a series' last training rows (at most 1,000 or three periods)
/// are seasonal, the window is seasonally adjusted (seasonal_adjustment.h) and the season is added back to
/// the forecast; a multiplicative season also scales the standard deviation. Models theta, optimised-theta
/// and dynamic-theta.
class ThetaForecaster : public LocalForecaster {
 public:
  ThetaForecaster(const ForecasterConfig& config, const ForecastShape& shape, ThetaForm form);

 protected:
  void forecast(int64_t series, std::span<const double> history, std::span<double> out) const override;
  void fit_series(int64_t series, std::span<const double> history) override;

 private:
  ThetaForm form_;
  at::Tensor seasonal_;  // [S] int64: whether each series is seasonal; 1 before the fit
};

ThetaForecaster::ThetaForecaster(const ForecasterConfig& config, const ForecastShape& shape, ThetaForm form)
    : LocalForecaster(shape, config.season()),
      form_(form),
      seasonal_(register_buffer("seasonal", at::ones({shape.series_count()}, at::kLong))) {}

void ThetaForecaster::fit_series(int64_t series, std::span<const double> history) {
  seasonal_.mutable_data_ptr<int64_t>()[series] = is_seasonal(history, period()) ? 1 : 0;
}

void ThetaForecaster::forecast(int64_t series, std::span<const double> history, std::span<double> out) const {
  const bool seasonal = seasonal_.const_data_ptr<int64_t>()[series] != 0;
  const Season season = seasonal ? season_of_history(history, period()) : Season();
  std::vector<double> adjusted(history.begin(), history.end());
  for (size_t t = 0; t < adjusted.size(); ++t)
    adjusted[t] = season.take_off(adjusted[t], static_cast<int64_t>(t));
  StepForecast steps = forecast_theta(fit_theta(form_, adjusted), adjusted, shape().horizon);
  for (size_t step = 0; step < steps.mean.size(); ++step) {
    const auto row = static_cast<int64_t>(history.size() + step);
    steps.mean[step] = season.put_back(steps.mean[step], row);
    if (season.multiplicative) steps.stddev[step] = season.put_back(steps.stddev[step], row);
  }
  write_normal(steps, out);
}

template <ThetaForm kForm>
std::shared_ptr<Forecaster> make_theta(const ForecasterConfig& config, const ForecastShape& shape,
                                       nn::Initializer& /*init*/) {
  return std::make_shared<ThetaForecaster>(config, shape, kForm);
}

}  // namespace

ForecasterRow theta_row() {
  return {.name = "theta", .shared = {"period"}, .make = make_theta<ThetaForm::standard>};
}

ForecasterRow optimised_theta_row() {
  return {.name = "optimised-theta", .shared = {"period"}, .make = make_theta<ThetaForm::optimised>};
}

ForecasterRow dynamic_theta_row() {
  return {.name = "dynamic-theta", .shared = {"period"}, .make = make_theta<ThetaForm::dynamic>};
}

}  // namespace modewise::models
