#pragma once
// Rolling origins: forecasts made every so many rows over a split, none refitted, judged one by one.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/tasks/forecast/run.h"

namespace modewise::tasks {

struct BacktestOrigin {
  int64_t row = 0;   // first forecast row
  std::string time;  // as the file writes it
  PointErrors scaled;
  double repeat_mae = 0;  // of repeating the last observed value, scaled
  std::vector<QuantileErrors::Interval> intervals;
};

struct Backtest {
  int64_t stride = 0, lookback = 0, horizon = 0;
  std::vector<BacktestOrigin> origins;
  PointErrors scaled, units;
  double repeat_mae = 0;
  std::vector<QuantileErrors::Interval> intervals;
};

/// Origins every `stride` rows (0: the horizon) over the test rows of `data`.
Backtest backtest(const ForecastRun& run, const ForecastData& data, int64_t stride = 0);
nlohmann::ordered_json to_json(const Backtest& backtest);

}  // namespace modewise::tasks
