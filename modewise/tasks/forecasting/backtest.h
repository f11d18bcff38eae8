#pragma once
// Backtests of runs on one tensor (predict.h) and on panels, with their tables.

#include <cstdint>
#include <functional>
#include <string>

#include "modewise/tasks/forecasting/panel_run.h"
#include "modewise/tasks/run/result.h"

namespace modewise::tasks {

struct BacktestRequest {
  std::string run, data, out;  // out: CSV file of the forecasts; "": none
  bool force = false;          // overwrite it
  std::string split = "test";  // or validation
  int64_t stride = 0;          // rows between origins; 0: the horizon
  int64_t windows = 0;         // of each series of a panel; 0: all of the split
};

/// Evaluates forecasts of a run from rolling origins. Usage error for --windows without a panel.
Result backtest_run(const BacktestRequest& request);

/// Backtest on a panel: the last windows of each series, `stride` rows apart, by the split ("validation":
/// those before the test rows): {"stride", "lookback", "horizon", "origins": [{"time": "1 of 3", "rows":
/// first forecast row before the end of the split, and errors as PanelErrors::to_json with "seasonal_mase",
/// the MASE of the seasonal naive forecast}], and the same errors over all windows}. Usage error for windows
/// that begin within rows that a global model was trained on. Calls `visit` with CSV rows of the forecasts.
nlohmann::ordered_json backtest(const PanelRun& run, int64_t stride, int64_t windows,
                                const std::string& split,
                                const std::function<void(const std::string& rows)>& visit = {});

}  // namespace modewise::tasks
