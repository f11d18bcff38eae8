// ETS forecaster: local exponential smoothing of each series.

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/models/forecasting/config.h"
#include "modewise/models/forecasting/local_forecaster.h"
#include "modewise/models/forecasting/smoothing_fit.h"
#include "modewise/nn/initializer.h"

namespace modewise::models {
namespace {

struct EtsConfig {
  std::string form = "auto";  // auto | "ANN", "AAdA", "MAM" …
  void fields(Fields& fields);
};

void EtsConfig::fields(Fields& f) {
  f.add("form", form,
        "error, trend and season, such as ANN, AAN, AAdN, ANA, AAA, AAdA, MAM; auto: smallest AICc");
}

/// Model form (smallest AICc for form = "auto") and parameters of each series are fitted to its last training
/// rows, at most 1,000 or three periods. At each origin the states are filtered through the window from
/// maximum-likelihood initial states (fit_states); a window with a non-positive value uses the additive form.
/// Quantiles assume normal errors with the fitted variance; multiplicative forms use 400 simulated paths with
/// errors drawn from the seed.
class EtsForecaster : public LocalForecaster {
 public:
  EtsForecaster(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  void forecast(int64_t series, std::span<const double> history, std::span<double> out) const override;
  void fit_series(int64_t series, std::span<const double> history) override;

 private:
  SmoothingForm form_of(int64_t series) const;

  std::string form_;
  std::vector<double> noise_;                  // [400, H]; empty for point forecasts
  at::Tensor forms_, parameters_, variances_;  // [S, 4] int64 characters, [S, 4], [S]
};

constexpr int64_t kPaths = 400;

/// Quantile of ascending values by linear interpolation, as NumPy.
double quantile_of(std::span<const double> ascending, double level) {
  const double place = level * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, ascending.size() - 1);
  return ascending[below] + (place - static_cast<double>(below)) * (ascending[above] - ascending[below]);
}

EtsForecaster::EtsForecaster(const ForecasterConfig& config, const ForecastShape& shape,
                             nn::Initializer& init)
    : LocalForecaster(shape, config.season()), form_(config.own.of<EtsConfig>().form) {
  const int64_t series = shape.series_count();
  const SmoothingForm level;
  forms_ = register_buffer("forms", at::tensor({int64_t{level.error}, int64_t{level.trend},
                                                int64_t{level.season}, int64_t{level.damped}})
                                        .expand({series, 4})
                                        .clone());
  parameters_ = register_buffer("parameters",
                                at::tensor({0.1, 0.0, 0.0, 1.0}, at::kDouble).expand({series, 4}).clone());
  variances_ = register_buffer("variances", at::zeros({series}, at::kDouble));
  if (shape.quantiles == 0) return;
  const at::Tensor drawn = init.normal({kPaths, shape.horizon}, 1).to(at::kDouble).contiguous();
  noise_.assign(drawn.const_data_ptr<double>(), drawn.const_data_ptr<double>() + drawn.numel());
}

SmoothingForm EtsForecaster::form_of(int64_t series) const {
  const int64_t* codes = forms_.const_data_ptr<int64_t>() + series * 4;
  return {static_cast<char>(codes[0]), static_cast<char>(codes[1]), static_cast<char>(codes[2]),
          codes[3] != 0};
}

void EtsForecaster::fit_series(int64_t series, std::span<const double> history) {
  std::vector<SmoothingForm> forms;
  if (form_ == "auto") {
    forms = forms_to_try(history, period(), shape().lookback);
  } else {
    forms = {smoothing_form(form_, "model")};
    require(!forms.front().multiplies() || *std::min_element(history.begin(), history.end()) > 0,
            ErrorKind::data,
            "ets.form = \"{}\" is multiplicative and needs positive values, but series {} has {}", form_,
            series + 1, *std::min_element(history.begin(), history.end()));
    require(std::ssize(history) >= min_rows(forms.front(), period()), ErrorKind::data,
            "ets.form = \"{}\" with a period of {} rows needs at least {} rows, but there are {}", form_,
            period(), min_rows(forms.front(), period()), history.size());
  }
  const SmoothingFit fit = choose_smoothing(forms, history, period());
  int64_t* codes = forms_.mutable_data_ptr<int64_t>() + series * 4;
  codes[0] = fit.form.error, codes[1] = fit.form.trend, codes[2] = fit.form.season;
  codes[3] = fit.form.damped ? 1 : 0;
  double* parameters = parameters_.mutable_data_ptr<double>() + series * 4;
  parameters[0] = fit.parameters.alpha, parameters[1] = fit.parameters.beta;
  parameters[2] = fit.parameters.gamma, parameters[3] = fit.parameters.phi;
  variances_.mutable_data_ptr<double>()[series] = fit.variance;
}

void EtsForecaster::forecast(int64_t series, std::span<const double> history, std::span<double> out) const {
  SmoothingForm form = form_of(series);
  const double* p = parameters_.const_data_ptr<double>() + series * 4;
  const SmoothingParameters parameters{p[0], p[1], p[2], p[3]};
  double variance = variances_.const_data_ptr<double>()[series];
  if (form.multiplies() && !(*std::min_element(history.begin(), history.end()) > 0)) {
    form = {'A', form.has_trend() ? 'A' : 'N', form.has_season() ? 'A' : 'N', form.damped};
    variance = -1;
  }
  SmoothingStates states = fit_states(form, parameters, history, period());
  std::vector<double> forecasts(history.size());
  smooth(form, parameters, history, states, forecasts);
  if (variance < 0) variance = error_variance(form, history, forecasts);
  const int64_t horizon = shape().horizon;
  if (!form.multiplies() || levels().empty()) {
    write_normal(forecast_smoothing(form, parameters, std::move(states), variance, horizon), out);
    return;
  }
  const std::vector<double> futures = simulate_smoothing(form, parameters, states, variance, horizon, noise_);
  std::vector<double> step(kPaths);
  size_t at = 0;
  for (int64_t h = 0; h < horizon; ++h) {
    for (int64_t path = 0; path < kPaths; ++path)
      step[static_cast<size_t>(path)] = futures[static_cast<size_t>(path * horizon + h)];
    std::sort(step.begin(), step.end());
    for (const double level : levels()) out[at++] = quantile_of(step, level);
  }
}

void check_ets(const ForecasterConfig& config, const ForecastShape& shape, const std::string& source) {
  const std::string& name = config.own.of<EtsConfig>().form;
  if (name == "auto") return;
  const SmoothingForm form = smoothing_form(name, source);
  const int64_t period = config.season();
  require(!form.has_season() || (period > 1 && shape.lookback >= min_rows(form, period)), ErrorKind::config,
          "{}: ets.form = \"{}\" with period = {} needs a period of at least 2 and a lookback "
          "of at least {} rows, "
          "got {}",
          source, name, period, min_rows(form, period), shape.lookback);
}

}  // namespace

ForecasterRow ets_row() {
  return {.name = "ets",
          .shared = {"period"},
          .make = make_model<EtsForecaster>,
          .check = check_ets,
          .own = own_options<EtsConfig>};
}

}  // namespace modewise::models
