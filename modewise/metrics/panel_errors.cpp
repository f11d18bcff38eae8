#include "modewise/metrics/panel_errors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/metrics/json_number.h"

namespace modewise::metrics {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Mean of `error` over the pairs of observed rows `lag` apart; 0 if there are none.
template <class Error>
double mean_of_pairs(std::span<const double> rows, std::span<const bool> observed, int64_t lag,
                     const Error& error) {
  double sum = 0, count = 0;
  for (auto row = static_cast<size_t>(lag); row < rows.size(); ++row) {
    const size_t before = row - static_cast<size_t>(lag);
    if (!observed.empty() && (!observed[row] || !observed[before])) continue;
    sum += error(rows[row] - rows[before]);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace

NaiveErrors NaiveErrors::of(std::span<const double> rows, std::span<const bool> observed, int64_t season) {
  const auto absolute = [](double x) { return std::abs(x); };
  NaiveErrors errors;
  errors.lag = std::ssize(rows) > season ? season : 1;
  errors.seasonal = mean_of_pairs(rows, observed, errors.lag, absolute);
  errors.squared = mean_of_pairs(rows, observed, 1, [](double x) { return x * x; });
  return errors;
}

PanelErrors::PanelErrors(std::vector<double> levels)
    : levels_(std::move(levels)), pinball_(levels_.size()), inside_(levels_.size() / 2) {}

double PanelErrors::add(const PanelTarget& target) {
  const size_t levels = levels_.size();
  double count = 0, absolute = 0, squared = 0, smape = 0;
  for (size_t step = 0; step < target.truth.size(); ++step) {
    if (!target.observed[step]) continue;
    const double y = target.truth[step], error = y - target.forecast[step];
    const double both = std::abs(y) + std::abs(target.forecast[step]);
    ++count;
    absolute += std::abs(error);
    squared += error * error;
    smape += both > 0 ? 200 * std::abs(error) / both : 0;
    size_ += std::abs(y);
    for (size_t level = 0; level < levels; ++level) {
      const double gap = y - target.quantiles[step * levels + level];
      pinball_[level] += std::max(levels_[level] * gap, (levels_[level] - 1) * gap);
    }
    for (size_t pair = 0; pair < inside_.size(); ++pair)
      inside_[pair] += target.quantiles[step * levels + pair] <= y &&
                       y <= target.quantiles[step * levels + levels - 1 - pair];
  }
  if (count == 0) return kUndefined;
  ++windows_;
  cells_ += count;
  smape_ += smape / count;
  absolute_ += absolute / target.stddev;
  squared_ += squared / (target.stddev * target.stddev);
  if (target.naive.squared > 0) {
    rmsse_ += std::sqrt(squared / count / target.naive.squared);
    ++rmsse_count_;
  }
  if (!(target.naive.seasonal > 0)) return kUndefined;
  const double mase = absolute / count / target.naive.seasonal;
  mase_ += mase;
  ++mase_count_;
  mase_short_ += target.naive.lag < target.season ? 1 : 0;
  return mase;
}

double PanelErrors::ratio(double sum, double count) {
  return count > 0 ? sum / count : kUndefined;
}

template <class Errors, class Visit>
void PanelErrors::each_sum(Errors& errors, const Visit& visit) {
  for (auto* sum : {&errors.windows_, &errors.cells_, &errors.mase_, &errors.mase_count_, &errors.mase_short_,
                    &errors.rmsse_, &errors.rmsse_count_, &errors.smape_, &errors.squared_, &errors.absolute_,
                    &errors.size_})
    visit(*sum);
  for (auto& sum : errors.pinball_) visit(sum);
  for (auto& sum : errors.inside_) visit(sum);
}

std::vector<double> PanelErrors::sums() const {
  std::vector<double> sums;
  each_sum(*this, [&](double sum) { sums.push_back(sum); });
  return sums;
}

void PanelErrors::set_sums(std::span<const double> sums) {
  size_t at = 0;
  each_sum(*this, [&](double& sum) {
    require(at < sums.size(), ErrorKind::internal, "PanelErrors::set_sums: {} sums are too few", sums.size());
    sum = sums[at++];
  });
}

double PanelErrors::wql() const {
  if (levels_.empty()) return kUndefined;
  double sum = 0;
  for (const double pinball : pinball_) sum += 2 * pinball;
  return ratio(sum / static_cast<double>(levels_.size()), size_);
}

nlohmann::ordered_json PanelErrors::to_json() const {
  nlohmann::ordered_json json = {{"windows", windows()},
                                 {"mase", finite_or_null(mase())},
                                 {"rmsse", finite_or_null(rmsse())},
                                 {"smape", finite_or_null(smape())},
                                 {"scaled", {{"mse", finite_or_null(mse())}, {"mae", finite_or_null(mae())}}},
                                 {"undefined", static_cast<int64_t>(windows_ - mase_count_)},
                                 {"mase_of_lag_1", static_cast<int64_t>(mase_short_)}};
  if (levels_.empty()) return json;
  json["wql"] = finite_or_null(wql());
  json["intervals"] = nlohmann::ordered_json::array();
  for (size_t pair = inside_.size(); pair-- > 0;)
    json["intervals"].push_back({{"nominal", levels_[levels_.size() - 1 - pair] - levels_[pair]},
                                 {"coverage", finite_or_null(ratio(inside_[pair], cells_))}});
  return json;
}

}  // namespace modewise::metrics
