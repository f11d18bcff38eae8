#include "modewise/models/forecasting/exponential_smoothing.h"

#include <cmath>
#include <numbers>

#include "modewise/core/error.h"

namespace modewise::models {
namespace {

double error_of(const SmoothingForm& form, double value, double forecast) {
  return form.error == 'M' ? (value - forecast) / forecast : value - forecast;
}

/// Level with trend, q.
double base_of(const SmoothingForm& form, const SmoothingParameters& p, const SmoothingStates& states) {
  if (form.trend == 'A') return states.level + p.phi * states.trend;
  if (form.trend == 'M') return states.level * std::pow(states.trend, p.phi);
  return states.level;
}

/// Var(h steps) / variance = 1 + Σ_{j<h} c_j², with c_j = α + β (φ + … + φ^j), plus γ if j is a multiple of
/// the period.
double relative_error(const SmoothingForm& form, const SmoothingParameters& p, double damping, int64_t step,
                      int64_t period) {
  double c = p.alpha;
  if (form.has_trend()) c += p.beta * damping;
  if (form.has_season() && step % period == 0) c += p.gamma;
  return c;
}

}  // namespace

std::string SmoothingForm::name() const {
  return std::string{error, trend} + (damped ? "d" : "") + season;
}

SmoothingForm smoothing_form(const std::string& name, const std::string& source) {
  for (const char error : {'A', 'M'})
    for (const char trend : {'N', 'A', 'M'})
      for (const bool damped : {false, true})
        for (const char season : {'N', 'A', 'M'})
          if (const SmoothingForm form{error, trend, season, damped};
              form.name() == name && (form.has_trend() || !damped))
            return form;
  fail(ErrorKind::config,
       "{}: ets.form = \"{}\" is not a form of exponential smoothing: auto, or error A or M, trend N, "
       "A, Ad, M or Md and season N, A or M, such as AAdA",
       source, name);
}

double next_forecast(const SmoothingForm& form, const SmoothingParameters& parameters,
                     const SmoothingStates& states) {
  const double base = base_of(form, parameters, states);
  if (form.season == 'A') return base + states.season[states.next];
  if (form.season == 'M') return base * states.season[states.next];
  return base;
}

void smooth_row(const SmoothingForm& form, const SmoothingParameters& p, double value,
                SmoothingStates& states) {
  const double base = base_of(form, p, states), before = states.level;
  const double season = form.has_season() ? states.season[states.next] : 0;
  const double weight = form.season == 'M' ? season : 1;
  const double r = value - (form.season == 'A' ? base + season : base * weight);
  states.level = base + p.alpha * r / weight;
  if (form.trend == 'A') states.trend = p.phi * states.trend + p.beta * r / weight;
  if (form.trend == 'M') states.trend = std::pow(states.trend, p.phi) + p.beta * r / (weight * before);
  if (!form.has_season()) return;
  states.season[states.next] = season + p.gamma * (form.season == 'M' ? r / states.level : r);
  states.next = (states.next + 1) % states.season.size();
}

void smooth(const SmoothingForm& form, const SmoothingParameters& parameters, std::span<const double> history,
            SmoothingStates& states, std::span<double> forecasts) {
  for (size_t t = 0; t < history.size(); ++t) {
    forecasts[t] = next_forecast(form, parameters, states);
    smooth_row(form, parameters, history[t], states);
  }
}

double error_variance(const SmoothingForm& form, std::span<const double> history,
                      std::span<const double> forecasts) {
  double squares = 0;
  for (size_t t = 0; t < history.size(); ++t) {
    const double error = error_of(form, history[t], forecasts[t]);
    squares += error * error;
  }
  return squares / static_cast<double>(history.size());
}

double log_likelihood(const SmoothingForm& form, std::span<const double> history,
                      std::span<const double> forecasts) {
  const double variance = error_variance(form, history, forecasts);
  double likelihood =
      -0.5 * static_cast<double>(history.size()) * (std::log(2 * std::numbers::pi * variance) + 1);
  if (form.error == 'M')
    for (const double forecast : forecasts) likelihood -= std::log(std::abs(forecast));
  return likelihood;
}

StepForecast forecast_smoothing(const SmoothingForm& form, const SmoothingParameters& parameters,
                                SmoothingStates states, double variance, int64_t horizon) {
  StepForecast out;
  double relative = 1, damping = 0, power = 1;
  for (int64_t step = 1; step <= horizon; ++step) {
    const double mean = next_forecast(form, parameters, states);
    out.mean.push_back(mean);
    smooth_row(form, parameters, mean, states);
    if (form.multiplies()) continue;
    out.stddev.push_back(std::sqrt(variance * relative));
    power *= parameters.phi;
    damping += power;
    relative += std::pow(relative_error(form, parameters, damping, step, std::ssize(states.season)), 2);
  }
  return out;
}

std::vector<double> simulate_smoothing(const SmoothingForm& form, const SmoothingParameters& parameters,
                                       const SmoothingStates& states, double variance, int64_t horizon,
                                       std::span<const double> noise) {
  const double stddev = std::sqrt(variance);
  std::vector<double> futures(noise.size());
  SmoothingStates now;
  for (size_t i = 0; i < noise.size(); ++i) {
    if (i % static_cast<size_t>(horizon) == 0) now = states;
    const double mean = next_forecast(form, parameters, now);
    futures[i] = mean + stddev * noise[i] * (form.error == 'M' ? mean : 1);
    smooth_row(form, parameters, futures[i], now);
  }
  return futures;
}

}  // namespace modewise::models
