#pragma once
// predictions.npz: forecasts of some test windows, for figures and for Python.
//
// Arrays, in the data's units: past [n, S, L], truth and forecast [n, S, H] (NaN where missing), quantiles
// [n, S, H, Q], levels [Q], first_row [n] (row of past[..., 0]), times [n, L + H] (seconds since 1970, or
// rows), dated [1], names (series names, one per line, as bytes).

#include <filesystem>
#include <string>
#include <vector>

#include "modewise/tasks/forecasting/data.h"
#include "modewise/tasks/forecasting/evaluate.h"

namespace modewise::tasks {

class PredictionStore {
 public:
  /// Stores at most `maximum` of `windows`, evenly spaced, including the first and the last.
  PredictionStore(const ForecastData& data, const data::WindowSet& windows, std::vector<double> levels,
                  int64_t maximum);
  void add(const ForecastBlock& block, std::span<const float> quantiles);
  void write(const std::filesystem::path& path) const;

 private:
  const ForecastData& data_;
  std::vector<double> mean_, stddev_, levels_;
  std::vector<int64_t> windows_;  // indices of the stored windows, ascending
  size_t next_ = 0;
  int64_t lookback_, horizon_;
  std::vector<float> past_, truth_, forecast_, quantiles_;
  std::vector<int64_t> first_rows_;
};

/// Contents of predictions.npz.
struct KeptPredictions {
  int64_t windows = 0, series = 0, lookback = 0, horizon = 0;
  std::vector<double> levels;
  std::vector<double> past, truth, forecast, quantiles;
  std::vector<double> times;
  bool dated = false;
  std::vector<std::string> names;
};
/// Data error naming the file if its arrays are inconsistent.
KeptPredictions read_predictions(const std::filesystem::path& path);

}  // namespace modewise::tasks
