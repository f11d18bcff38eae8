#include "modewise/models/forecasting/smoothing_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "modewise/models/forecasting/box_minimum.h"
#include "modewise/models/forecasting/seasonal_adjustment.h"

namespace modewise::models {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kLineRows = 10, kSeasonPeriods = 5, kMaxPeriod = 366;
constexpr size_t kAlpha = 0, kBeta = 1, kGamma = 2, kPhi = 3, kLevel = 4, kTrend = 5, kSeason = 6;

SmoothingParameters parameters_at(const SmoothingForm& form, std::span<const double> x) {
  return {x[kAlpha], form.has_trend() ? x[kAlpha] * x[kBeta] : 0,
          form.has_season() ? (1 - x[kAlpha]) * x[kGamma] : 0, form.damped ? x[kPhi] : 1};
}

SmoothingStates states_at(std::span<const double> x) {
  return {x[kLevel], x[kTrend], {x.begin() + kSeason, x.end()}, 0};
}

/// Record of one filtered row, for the backward pass.
struct Row {
  double level, trend, season;  // before it
  double base, forecast, residual, next_level;
};

/// Filters all rows; false if a multiplicative form meets a non-positive value.
bool forward_rows(const SmoothingForm& form, const SmoothingParameters& p, std::span<const double> history,
                  SmoothingStates states, std::vector<Row>& rows) {
  for (size_t t = 0; t < history.size(); ++t) {
    Row& row = rows[t];
    row.level = states.level, row.trend = states.trend;
    row.season = form.has_season() ? states.season[states.next] : 0;
    row.base = form.trend == 'A'   ? row.level + p.phi * row.trend
               : form.trend == 'M' ? row.level * std::pow(row.trend, p.phi)
                                   : row.level;
    row.forecast = next_forecast(form, p, states);
    row.residual = history[t] - row.forecast;
    smooth_row(form, p, history[t], states);
    row.next_level = states.level;
    const bool positive = row.forecast > 0 && row.next_level > 0 && (form.trend != 'M' || row.trend > 0) &&
                          (form.season != 'M' || row.season > 0);
    if (form.multiplies() && !positive) return false;
  }
  return true;
}

/// Adjoints (reverse-mode gradients) of parameters and states, from the last row to the first.
class Backward {
 public:
  Backward(const SmoothingForm& form, const SmoothingParameters& parameters, size_t period)
      : form_(form), p_(parameters), season_(period) {}

  /// Backward step over row t; `pull` is the loss gradient of its forecast.
  void back(const Row& row, size_t t, double pull) {
    const double r = row.residual;
    const bool times = form_.season == 'M';
    const double w = times ? row.season : 1;
    double level = level_, before = 0, trend = 0, base = 0, power = 0, residual = 0, weight = 0, season = 0;
    if (form_.has_season()) {
      const double mine = season_[t % season_.size()], over = times ? row.next_level : 1;
      season += mine;
      residual += p_.gamma / over * mine;
      gamma += r / over * mine;
      if (times) level -= p_.gamma * r / (over * over) * mine;
    }
    if (form_.has_trend()) {
      const double over = form_.trend == 'M' ? w * row.level : w;
      beta += r / over * trend_;
      residual += p_.beta / over * trend_;
      weight -= p_.beta * r / (over * w) * trend_;
      if (form_.trend == 'M') {
        power += trend_;
        before -= p_.beta * r / (over * row.level) * trend_;
      } else {
        trend += p_.phi * trend_;
        phi += row.trend * trend_;
      }
    }
    base += level;
    alpha += r / w * level;
    residual += p_.alpha / w * level;
    weight -= p_.alpha * r / (w * w) * level;
    const double forecast = pull - residual;
    base += times ? row.season * forecast : forecast;
    if (times) season += row.base * forecast + weight;
    if (form_.season == 'A') season += forecast;
    if (form_.trend == 'M') {
      const double raised = std::pow(row.trend, p_.phi);
      before += raised * base;
      power += row.level * base;
      trend += p_.phi * raised / row.trend * power;
      phi += raised * std::log(row.trend) * power;
    } else {
      before += base;
      if (form_.trend == 'A') trend += p_.phi * base, phi += row.trend * base;
    }
    level_ = before, trend_ = trend;
    if (form_.has_season()) season_[t % season_.size()] = season;
  }

  double alpha = 0, beta = 0, gamma = 0, phi = 0;
  double level() const { return level_; }
  double trend() const { return trend_; }
  const std::vector<double>& season() const { return season_; }

 private:
  SmoothingForm form_;
  SmoothingParameters p_;
  double level_ = 0, trend_ = 0;
  std::vector<double> season_;
};

double average(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double spread_of(std::span<const double> x) {
  const double mean = average(x);
  double squares = 0;
  for (const double value : x) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(x.size()));
}

/// Normalizes the season's mean to 0 (multiplicative: 1) by moving it to the level; forecasts stay the same.
void normalize(const SmoothingForm& form, SmoothingStates& states) {
  if (!form.has_season()) return;
  const double mean = average(states.season);
  for (double& factor : states.season) factor = form.season == 'M' ? factor / mean : factor - mean;
  states.level = form.season == 'M' ? states.level * mean : states.level + mean;
  if (form.season == 'M' && form.trend == 'A') states.trend *= mean;
}

struct Start {
  double alpha, beta, gamma, phi;
};
constexpr Start kStarts[] = {
    {0.1, 0.1, 0.1, 0.95}, {0.5, 0.1, 0.2, 0.9}, {0.9, 0.02, 0.5, 0.97}, {0.9, 0.9, 0.05, 0.9}};

}  // namespace

double SmoothingFit::aicc() const {
  const int64_t season = std::ssize(start.season);
  const int64_t k = 3 + (form.has_trend() ? 2 : 0) + (form.damped ? 1 : 0) + (season > 0 ? season : 0);
  const auto n = static_cast<double>(rows), count = static_cast<double>(k);
  if (rows <= k + 1) return kInfinity;
  return -2 * likelihood + 2 * count * n / (n - count - 1);
}

int64_t min_rows(const SmoothingForm& form, int64_t period) {
  return form.has_season() ? std::max(2 * period, kLineRows + period / 2 * 2) : kLineRows;
}

SmoothingStates first_states(const SmoothingForm& form, std::span<const double> history, int64_t period) {
  SmoothingStates states;
  std::vector<double> rows(history.begin(), history.end());
  if (form.has_season()) {
    const int64_t periods = std::max(std::min(kSeasonPeriods, std::ssize(history) / period),
                                     (min_rows(form, period) + period - 1) / period);
    const size_t count = std::min(static_cast<size_t>(periods * period), history.size());
    const Season season = classical_season(history.first(count), period, form.season == 'M');
    states.season = season.factors;
    for (size_t t = 0; t < rows.size(); ++t) rows[t] = season.take_off(rows[t], static_cast<int64_t>(t));
  }
  const size_t count = std::min<size_t>(rows.size(), kLineRows);
  const double middle = (static_cast<double>(count) + 1) / 2;
  const double mean = average(std::span(rows).first(count));
  double squares = 0, products = 0;
  for (size_t t = 0; t < count; ++t) {
    const double from = static_cast<double>(t + 1) - middle;
    squares += from * from;
    products += from * (rows[t] - mean);
  }
  const double slope = squares > 0 ? products / squares : 0;
  states.level = mean - slope * middle;
  if (form.trend == 'A') states.trend = slope;
  if (form.trend == 'M') states.trend = 1 + slope / states.level;
  return states;
}

double smoothing_loss(const SmoothingForm& form, std::span<const double> history, std::span<const double> x,
                      std::span<double> gradient) {
  const SmoothingParameters p = parameters_at(form, x);
  std::vector<Row> rows(history.size());
  if (!forward_rows(form, p, history, states_at(x), rows)) return kInfinity;
  const bool times = form.error == 'M';
  const auto n = static_cast<double>(history.size());
  double squares = 0, logs = 0;
  for (const Row& row : rows) {
    const double error = times ? row.residual / row.forecast : row.residual;
    squares += error * error;
    if (times) logs += std::log(row.forecast);
  }
  if (!std::isfinite(squares)) return kInfinity;
  squares = std::max(squares, std::numeric_limits<double>::min());
  Backward back(form, p, x.size() - kSeason);
  for (size_t t = rows.size(); t-- > 0;) {
    const Row& row = rows[t];
    const double pull = times ? 1 / row.forecast - n / squares * row.residual / row.forecast * history[t] /
                                                       (row.forecast * row.forecast)
                              : -n / squares * row.residual;
    back.back(row, t, pull);
  }
  gradient[kAlpha] = back.alpha + (form.has_trend() ? x[kBeta] * back.beta : 0) -
                     (form.has_season() ? x[kGamma] * back.gamma : 0);
  gradient[kBeta] = form.has_trend() ? x[kAlpha] * back.beta : 0;
  gradient[kGamma] = form.has_season() ? (1 - x[kAlpha]) * back.gamma : 0;
  gradient[kPhi] = form.damped ? back.phi : 0;
  gradient[kLevel] = back.level();
  gradient[kTrend] = form.has_trend() ? back.trend() : 0;
  std::copy(back.season().begin(), back.season().end(), gradient.begin() + kSeason);
  return n / 2 * std::log(squares) + logs;
}

namespace {

/// Variables of a fit, scaled to comparable units: states in standard deviations of the history.
class Problem {
 public:
  Problem(const SmoothingForm& form, std::span<const double> history, int64_t period)
      : form_(form), history_(history), start_(first_states(form, history, period)) {
    const double unit = std::max({spread_of(history), 1e-12 * std::abs(average(history)), 1e-300});
    const size_t size = kSeason + start_.season.size();
    low_.assign(size, -kInfinity), high_.assign(size, kInfinity), units_.assign(size, 1.0);
    for (const size_t i : {kAlpha, kBeta, kGamma}) low_[i] = 1e-4, high_[i] = 1 - 1e-4;
    low_[kPhi] = 0.8, high_[kPhi] = 0.98;
    units_[kLevel] = unit;
    if (form.trend == 'A') units_[kTrend] = unit;
    if (form.season == 'A') std::fill(units_.begin() + kSeason, units_.end(), unit);
  }

  const SmoothingStates& start() const { return start_; }

  /// Begins without trend, for histories whose first rows have one that the others do not have.
  void flatten() {
    start_.level = average(history_);
    start_.trend = form_.trend == 'M' ? 1 : 0;
  }

  /// Fixes variable i.
  void hold(size_t i, double value) { low_[i] = high_[i] = value; }

  /// Minimizes smoothing_loss from these parameters and the heuristic initial states; x in its units.
  BoxMinimum from(const Start& parameters) const {
    constexpr double kGradient = 1e-5;
    constexpr int kMaxEvaluations = 1000;
    std::vector<double> first = {parameters.alpha, parameters.beta, parameters.gamma,
                                 parameters.phi,   start_.level,    start_.trend};
    first.insert(first.end(), start_.season.begin(), start_.season.end());
    std::vector<double> x(first.size()), gradient(first.size());
    for (size_t i = 0; i < first.size(); ++i) first[i] = std::clamp(first[i] / units_[i], low_[i], high_[i]);
    const SmoothFunction loss = [&](std::span<const double> at, std::span<double> slopes) {
      for (size_t i = 0; i < x.size(); ++i) x[i] = at[i] * units_[i];
      const double value = smoothing_loss(form_, history_, x, slopes);
      for (size_t i = 0; i < x.size(); ++i) slopes[i] *= units_[i];
      return value;
    };
    if (!std::isfinite(loss(first, gradient))) return {{}, kInfinity, 1};
    BoxMinimum found = minimum_in_box(loss, std::move(first), low_, high_, kGradient, kMaxEvaluations);
    for (size_t i = 0; i < x.size(); ++i) found.x[i] *= units_[i];
    return found;
  }

 private:
  SmoothingForm form_;
  std::span<const double> history_;
  SmoothingStates start_;
  std::vector<double> low_, high_, units_;
};

}  // namespace

SmoothingFit fit_smoothing(const SmoothingForm& form, std::span<const double> history, int64_t period) {
  const Problem problem(form, history, period);
  SmoothingFit fit{form, {}, problem.start(), -kInfinity, 0, std::ssize(history)};
  BoxMinimum best{{}, kInfinity, 0};
  for (const Start& from : kStarts)
    if (BoxMinimum found = problem.from(from); found.value < best.value) best = std::move(found);
  if (best.x.empty()) return fit;
  fit.parameters = parameters_at(form, best.x);
  fit.start = states_at(best.x);
  normalize(form, fit.start);
  std::vector<double> forecasts(history.size());
  SmoothingStates states = fit.start;
  smooth(form, fit.parameters, history, states, forecasts);
  fit.likelihood = log_likelihood(form, history, forecasts);
  fit.variance = error_variance(form, history, forecasts);
  return fit;
}

SmoothingStates fit_states(const SmoothingForm& form, const SmoothingParameters& parameters,
                           std::span<const double> history, int64_t period) {
  Problem problem(form, history, period);
  const Start at{parameters.alpha, parameters.beta / parameters.alpha,
                 parameters.gamma / (1 - parameters.alpha), parameters.phi};
  problem.hold(kAlpha, at.alpha);
  problem.hold(kBeta, at.beta);
  problem.hold(kGamma, at.gamma);
  problem.hold(kPhi, at.phi);
  BoxMinimum found = problem.from(at);
  if (found.x.empty() && form.has_trend()) {  // a multiplicative form that falls below 0
    problem.flatten();
    found = problem.from(at);
  }
  if (found.x.empty()) return problem.start();
  SmoothingStates states = states_at(found.x);
  normalize(form, states);
  return states;
}

std::vector<SmoothingForm> forms_to_try(std::span<const double> history, int64_t period, int64_t lookback) {
  const bool positive = *std::min_element(history.begin(), history.end()) > 0;
  std::vector<SmoothingForm> forms;
  for (const char error : {'A', 'M'})
    for (const bool trend : {false, true})
      for (const bool damped : {false, true})
        for (const char season : {'N', 'A', 'M'}) {
          const SmoothingForm form{error, trend ? 'A' : 'N', season, damped};
          if ((damped && !trend) || (form.multiplies() && !positive) || (error == 'A' && season == 'M'))
            continue;
          if (season != 'N' && (period < 2 || period > kMaxPeriod ||
                                std::min(std::ssize(history), lookback) < min_rows(form, period)))
            continue;
          forms.push_back(form);
        }
  return forms;
}

SmoothingFit choose_smoothing(const std::vector<SmoothingForm>& forms, std::span<const double> history,
                              int64_t period) {
  SmoothingFit best;
  double minimum = kInfinity;
  for (const SmoothingForm& form : forms) {
    SmoothingFit fit = fit_smoothing(form, history, period);
    const double criterion = fit.aicc();
    if (best.rows > 0 && !(criterion < minimum)) continue;
    minimum = criterion;
    best = std::move(fit);
  }
  return best;
}

}  // namespace modewise::models
