#pragma once
// Forecasts beyond the end of the data, in its own units, with its dates continued; and those of rolling
// origins: made every so many rows over a split, none refitted, judged one by one.

#include <cstdint>
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
  std::vector<std::string> times;          // H: as the file writes its dates
  data::TimeColumns time_columns;          // of a table with dates
  std::vector<std::string> names;          // S
  std::vector<double> levels;              // Q, may be empty
  std::vector<double> values;              // [S, H]
  std::vector<double> quantiles;           // [S, H, Q]
  std::optional<data::LongLayout> layout;  // of a long table, all whose values of a series stand in `names`

  int64_t steps() const { return std::ssize(times); }
};

/// The `steps` (at most the run's horizon; 0: all of it) after the last row of `series`, to all of which a
/// model is fitted first that refits. Data errors: fewer rows than the lookback; missing cells in it although
/// the model takes none; of what the model is told ahead, fewer rows than the horizon.
Forecast predict_beyond(const ForecastRun& run, const data::Series& series, int64_t steps = 0);

/// A row a step: the date in the table's own column or columns, then each series, its quantiles beside it
/// ("OT", "OT_q0.025", …). Of a long table a row a series and step: id, date, each value, its quantiles.
std::string to_csv(const Forecast& forecast, report::CsvReader reader = report::CsvReader::program);
/// Arrays times, forecast [S, H], levels, quantiles [S, H, Q], names (one a line, as bytes).
std::string to_npz(const Forecast& forecast);
nlohmann::ordered_json to_json(const Forecast& forecast);

/// Origins every `stride` rows (0: the horizon) over the test rows of `data`: {"stride", "lookback",
/// "horizon", "origins": [{"row": the first that is forecast, "time": as the file writes it, "scaled" errors,
/// "repeat_mae": of repeating the last observed value, scaled, "intervals"}], and of all of them "scaled",
/// "units", "repeat_mae", "intervals"}. Several train::workers() forecast in shares; the lead returns it, the
/// others null.
nlohmann::ordered_json backtest(const ForecastRun& run, const ForecastData& data, int64_t stride = 0);

}  // namespace modewise::tasks
