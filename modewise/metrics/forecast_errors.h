#pragma once
// Forecast error metrics (MSE, MAE, sMAPE, pinball loss, CRPS, coverage) over many windows, summed in float64
// in window order, per series and step: bit-identical for any number of threads and any batch size. Missing
// targets are not counted.
//
// Shapes: B windows, S series (product of the series modes), H steps, Q quantile levels; row-major.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

namespace modewise::metrics {

/// Means over all counted targets (as TSLib: windows × steps × series concatenated, not a mean of batch
/// means).
struct PointErrors {
  double mse = 0, mae = 0, rmse = 0;
  double smape = 0;   // 200·|e| / (|y| + |ŷ|) in percent; 0 if both are 0
  int64_t count = 0;  // targets
};

/// Metrics of quantile forecasts.
struct QuantileErrors {
  struct Interval {
    double nominal = 0;   // 1 − 2τ of the pair τ, 1 − τ
    double coverage = 0;  // fraction of targets inside, borders included
    double width = 0;     // mean upper − lower
  };
  std::vector<double> levels;
  std::vector<double> pinball;  // per level: max(τ(y − q), (τ − 1)(y − q))
  double mean_pinball = 0;
  /// Σ_τ w_τ·2·pinball_τ: approximates 2∫pinball dτ; each level has the weight of the part of [0, 1] nearest
  /// to it.
  double crps = 0;
  std::vector<Interval> intervals;  // narrowest first
};

class ForecastErrors {
 public:
  /// `mean` and `stddev` (S each) convert scaled values to units; `levels` are ascending, empty for point
  /// forecasts.
  ForecastErrors(int64_t series, int64_t horizon, std::vector<double> mean, std::vector<double> stddev,
                 std::vector<double> levels = {});

  /// Adds B windows: `forecast` and `truth` [B, S, H], `observed` of that size or empty, `quantiles`
  /// [B, S, H, Q] or empty. All scaled.
  void add(std::span<const float> forecast, std::span<const float> truth, std::span<const bool> observed,
           std::span<const float> quantiles = {});

  /// All sums, for reduction over processes, and their replacement. Internal error for another number of
  /// sums.
  std::vector<double> sums() const;
  void set_sums(std::span<const double> sums);

  int64_t series() const { return series_; }
  int64_t horizon() const { return horizon_; }
  int64_t windows() const { return windows_; }
  const std::vector<double>& levels() const { return levels_; }

  enum class Scale { standard, units };
  /// Over all series and the first `steps` steps (0: all).
  PointErrors total(Scale scale = Scale::standard, int64_t steps = 0) const;
  PointErrors of_series(int64_t series, Scale scale = Scale::standard, int64_t steps = 0) const;
  PointErrors of_step(int64_t step, Scale scale = Scale::standard) const;
  bool has_quantiles() const { return !levels_.empty(); }
  QuantileErrors quantiles(Scale scale = Scale::standard, int64_t steps = 0) const;
  /// Coverage of the interval with this nominal level at one step; nullopt if there is no such interval.
  std::optional<double> coverage_of_step(int64_t step, double nominal) const;

 private:
  struct Cell {  // sums of one series and step
    double squared = 0, absolute = 0, smape = 0, smape_units = 0;
    int64_t count = 0;
  };
  struct Pair {
    size_t lower, upper;  // indices into levels_
    double nominal;
  };
  /// Visits every sum of `errors` in a fixed order.
  template <class Errors, class Visit>
  static void each_sum(Errors& errors, const Visit& visit);
  PointErrors errors(Scale scale, int64_t series_begin, int64_t series_end, int64_t step_begin,
                     int64_t step_end) const;

  int64_t series_, horizon_, windows_ = 0;
  std::vector<double> mean_, stddev_, levels_;
  std::vector<Pair> pairs_;      // narrowest interval first
  std::vector<Cell> cells_;      // [S, H]
  std::vector<double> pinball_;  // [S, H, Q]
  std::vector<int64_t> inside_;  // [S, H, pairs]
  std::vector<double> width_;    // [S, H, pairs]
};

nlohmann::ordered_json to_json(const PointErrors& errors);
nlohmann::ordered_json to_json(const QuantileErrors& errors);

}  // namespace modewise::metrics
