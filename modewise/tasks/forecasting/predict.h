#pragma once
// Forecasts beyond the end of the data, in units and with continued dates; and backtests with rolling
// origins, without refitting.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "modewise/report/csv_cell.h"
#include "modewise/tasks/forecasting/run.h"

namespace modewise::tasks {

struct Forecast {
  bool dated = false;
  std::vector<int64_t> seconds;            // H: seconds since 1970, or rows when not dated
  std::vector<int64_t> clock;              // H: `seconds` on the clock of the file, when dated
  std::vector<std::string> times;          // H: in the file's date format
  data::TimeColumns time_columns;          // for tables with dates
  std::vector<std::string> names;          // S
  std::vector<double> units;               // S: standard deviations, for the digits in CSV
  std::vector<double> levels;              // Q, may be empty
  std::vector<double> values;              // [S, H]
  std::vector<double> quantiles;           // [S, H, Q]
  std::optional<data::LongLayout> layout;  // for long tables, with one name per series and value column

  int64_t steps() const { return std::ssize(times); }
};

/// Seconds since 1970 on the clock of a date's text: local time of data.time_zone.
int64_t clock_seconds(const io::DateStyle& style, int64_t seconds);

/// Forecasts `steps` rows (at most the run's horizon; 0: the horizon) after the last row of `series`; models
/// that refit are first fitted to all rows. Data errors: fewer rows than the lookback; missing cells if the
/// model takes none; fewer rows of future covariates than the horizon.
Forecast predict_beyond(const ForecastRun& run, const data::Series& series, int64_t steps = 0);

/// One row per step: date in the table's own columns, then each series with its quantiles ("OT", "OT_q0.025",
/// …). For long tables one row per series and step: id, date, each value with its quantiles.
std::string to_csv(const Forecast& forecast, report::CsvReader reader = report::CsvReader::program);
/// Arrays times, forecast [S, H], levels, quantiles [S, H, Q], names (one per line, as bytes).
std::string to_npz(const Forecast& forecast);
nlohmann::ordered_json to_json(const Forecast& forecast);

/// Backtest with an origin every `stride` rows (0: the horizon) over the loaded rows of a split, test or
/// validation: {"stride", "lookback", "horizon", "origins": [{"row": first forecast row, "time", "scaled"
/// errors, "repeat_mae": scaled MAE of repeating the last observed value, "intervals"}], and over all origins
/// "scaled", "units", "repeat_mae", "intervals"}. Several train::workers() distribute the forecasts; rank 0
/// returns the result, other ranks null. Calls `visit` with the forecast of each origin.
nlohmann::ordered_json backtest(const ForecastRun& run, int64_t stride = 0, const std::string& split = "test",
                                const std::function<void(const Forecast&)>& visit = {});

}  // namespace modewise::tasks
