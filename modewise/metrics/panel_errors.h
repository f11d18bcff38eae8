#pragma once
// Errors of forecasts of a panel: means over its windows of errors that are relative to each series' own past
// (MASE, RMSSE: Hyndman and Koehler 2006; M5's guide), of sMAPE and scaled errors, and quantile losses
// relative to the sum of all targets (WQL, as GluonTS computes it).

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

namespace modewise::metrics {

/// Errors of naive forecasts within the rows before a window, for one variable. 0: undefined.
struct NaiveErrors {
  double seasonal = 0;  // mean |y_t − y_{t−m}|
  double squared = 0;   // mean (y_t − y_{t−1})²
  int64_t lag = 1;      // m

  /// `rows` in units, `observed` of that size or empty. Pairs with a missing row are left out. m is the
  /// season, or 1 if the rows are no longer than a season, as in GluonTS.
  static NaiveErrors of(std::span<const double> rows, std::span<const bool> observed, int64_t season);
};

/// One window of one variable: H steps in units, quantiles [H, Q] or empty.
struct PanelTarget {
  std::span<const double> forecast, truth, quantiles;
  std::span<const bool> observed;  // H
  double stddev = 1;               // units per scaled unit
  NaiveErrors naive;
  int64_t season = 1;
};

class PanelErrors {
 public:
  /// `levels`: ascending, empty for point forecasts.
  explicit PanelErrors(std::vector<double> levels = {});

  /// Adds one window; returns its MASE, NaN if it is undefined.
  double add(const PanelTarget& target);

  /// All sums, for reduction over processes, and their replacement.
  std::vector<double> sums() const;
  void set_sums(std::span<const double> sums);

  double mase() const { return ratio(mase_, mase_count_); }
  double rmsse() const { return ratio(rmsse_, rmsse_count_); }
  double smape() const { return ratio(smape_, windows_); }  // percent
  double mse() const { return ratio(squared_, cells_); }    // scaled
  double mae() const { return ratio(absolute_, cells_); }
  /// Σ 2·pinball / Σ |y|, mean over the levels; NaN without quantiles.
  double wql() const;
  int64_t windows() const { return static_cast<int64_t>(windows_); }
  const std::vector<double>& levels() const { return levels_; }

  /// {"windows", "mase", "rmsse", "smape", "wql", "scaled": {"mse", "mae"}, "intervals": [{"nominal",
  /// "coverage"}], "undefined": windows without MASE, whose naive error is 0, "mase_of_lag_1": windows of
  /// series shorter than a season}.
  nlohmann::ordered_json to_json() const;

 private:
  static double ratio(double sum, double count);
  template <class Errors, class Visit>
  static void each_sum(Errors& errors, const Visit& visit);

  std::vector<double> levels_;
  double windows_ = 0, cells_ = 0, mase_ = 0, mase_count_ = 0, mase_short_ = 0, rmsse_ = 0, rmsse_count_ = 0,
         smape_ = 0;
  double squared_ = 0, absolute_ = 0, size_ = 0;  // size_: Σ |y| in units
  std::vector<double> pinball_, inside_;          // by level; by pair of levels, outermost first
};

}  // namespace modewise::metrics
