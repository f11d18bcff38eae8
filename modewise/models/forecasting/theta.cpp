#include "modewise/models/forecasting/theta.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "modewise/models/minimum_on_interval.h"

namespace modewise::models {
namespace {

/// Least-squares line A + B·t through the rows 1…t so far.
class Line {
 public:
  void add(double value) {
    ++rows_;
    const auto t = static_cast<double>(rows_);
    if (rows_ > 1) slope_ = ((t - 2) * slope_ + 6 / t * (value - mean_)) / (t + 1);
    mean_ += (value - mean_) / t;
  }
  double slope() const { return slope_; }
  double intercept() const { return rows_ == 0 ? 0 : mean_ - (static_cast<double>(rows_) + 1) / 2 * slope_; }

 private:
  int64_t rows_ = 0;
  double mean_ = 0, slope_ = 0;
};

Line line_through(std::span<const double> history) {
  Line line;
  for (const double value : history) line.add(value);
  return line;
}

/// Coefficient of ω in μ_{t+1}: (1−α)^t A + (1 − (1−α)^{t+1})/α · B, with decay = (1−α)^t.
double drift_of(const Line& line, double decay, double alpha) {
  return decay * line.intercept() + (1 - decay * (1 - alpha)) / alpha * line.slope();
}

Theta smoothed(std::span<const double> history, double alpha) {
  Theta theta{ThetaForm::standard, alpha, history.front(), 0.5};
  double level = theta.level;
  for (const double value : history) {
    const double error = value - level;
    theta.squares += error * error;
    level += alpha * error;
  }
  return theta;
}

}  // namespace

Theta theta_with(ThetaForm form, std::span<const double> history, double alpha) {
  if (form == ThetaForm::standard) return smoothed(history, alpha);
  // y_t − p_{t−1} = u_t (ℓ_0 − y_1) + d_t ω + error, with p the level started at y_1 and u_t = (1−α)^{t−1}.
  const Line whole = line_through(history);
  Line line = form == ThetaForm::optimised ? whole : Line();
  double uu = 0, ud = 0, dd = 0, ur = 0, dr = 0, rr = 0, level = history.front(), u = 1;
  for (const double value : history) {
    const double d = drift_of(line, u, alpha), r = value - level;
    // The dynamic form has no line before the first row: skip that row.
    if (form == ThetaForm::optimised || u < 1)
      uu += u * u, ud += u * d, dd += d * d, ur += u * r, dr += d * r, rr += r * r;
    level += alpha * r;
    u *= 1 - alpha;
    if (form == ThetaForm::dynamic) line.add(value);
  }
  Theta theta{form, alpha, 0, 0.5};
  const double determinant = uu * dd - ud * ud;
  // If line and decay are collinear, as for a flat line, any weight fits: use that of θ = 2.
  if (determinant > 1e-12 * uu * dd) theta.weight = std::clamp((uu * dr - ud * ur) / determinant, 0.0, 1.0);
  const double w = theta.weight, l = uu > 0 ? (ur - ud * w) / uu : 0;
  theta.level = history.front() + l;
  theta.squares = std::max(rr - 2 * (l * ur + w * dr) + l * l * uu + 2 * l * w * ud + w * w * dd, 0.0);
  return theta;
}

Theta fit_theta(ThetaForm form, std::span<const double> history) {
  const bool standard = form == ThetaForm::standard;
  const double alpha = minimum_on_interval(standard ? 1e-4 : 0.1, standard ? 1 - 1e-4 : 0.99,
                                           [&](double at) { return theta_with(form, history, at).squares; });
  return theta_with(form, history, alpha);
}

StepForecast forecast_theta(const Theta& theta, std::span<const double> history, int64_t horizon) {
  const double alpha = theta.alpha;
  double level = theta.level, decay = 1;
  Line line;
  for (const double value : history) {
    level += alpha * (value - level);
    decay *= 1 - alpha;
    line.add(value);
  }
  const double variance = theta.squares / static_cast<double>(history.size());
  StepForecast out;
  for (int64_t step = 0; step < horizon; ++step) {
    const auto ahead = static_cast<double>(step);
    double mean = 0;
    if (theta.form == ThetaForm::standard) {
      mean = level + theta.weight * line.slope() * (ahead + (1 - decay) / alpha);
    } else {
      mean = level + theta.weight * drift_of(line, decay, alpha);
      level += alpha * (mean - level);
      decay *= 1 - alpha;
      if (theta.form == ThetaForm::dynamic) line.add(mean);
    }
    out.mean.push_back(mean);
    out.stddev.push_back(std::sqrt(variance * (1 + ahead * alpha * alpha)));
  }
  return out;
}

}  // namespace modewise::models
