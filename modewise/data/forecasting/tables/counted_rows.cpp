#include "modewise/data/forecasting/tables/counted_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "modewise/data/forecasting/tables/long_table.h"
#include "modewise/data/forecasting/tables/time_column.h"
#include "modewise/io/ascii.h"

namespace modewise::data {
namespace {

bool names_numbers(const std::string& name) {
  static const std::array<std::string_view, 20> names = {
      "t",    "d",   "step", "time_step", "timestep", "time_idx", "time_index", "tick", "seq", "n",
      "year", "day", "week", "month",     "quarter",  "period",   "sequence",   "hour", "obs", "x"};
  const std::string lower = io::to_lower(name);
  return std::find(names.begin(), names.end(), lower) != names.end() || (names_row(name) && lower != "id") ||
         io::time_name(name) == io::TimeName::whole;
}

/// Whether no series has a number twice, and at least half of the numbers are the most common step apart.
bool count_rows(const TableTime& time, const TableIds& ids) {
  const DatesBySeries by_series = dates_by_series(time.dates, ids.of_row);
  if (by_series.any_two([](int64_t a, int64_t b) { return a == b; })) return false;
  Differences within;
  for (size_t s = 0; s + 1 < by_series.begins.size(); ++s)
    within.add(std::span(by_series.dates)
                   .subspan(by_series.begins[s], by_series.begins[s + 1] - by_series.begins[s]));
  return 2 * within.count(within.commonest()) >= within.all();
}

}  // namespace

std::optional<TableTime> row_numbers(const io::CsvTable& table, size_t i) {
  constexpr double kMaximum = 9e15;  // whole numbers of a double
  const io::CsvColumn& column = table.columns[i];
  if (column.kind != io::CsvColumn::number || column.numbers.size() == 0) return std::nullopt;
  TableTime time;
  for (const double number : column.numbers) {
    if (!(std::abs(number) < kMaximum) || number != std::floor(number)) return std::nullopt;
    time.dates.push_back(static_cast<int64_t>(number));
  }
  time.columns = {i};
  time.counted = true;
  time.style.numbers = io::DateStyle::unix_time;  // written as they are
  time.style.epoch = 1;
  return time;
}

std::optional<TableTime> find_counted_rows(const io::CsvTable& table, const ForecastDataConfig& config) {
  const bool panel = config.panel == "yes";
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const io::CsvColumn& column = table.columns[i];
    const auto among = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), column.name) != names.end();
    };
    if (!names_numbers(column.name) || among(config.drop) || among(config.id) || among(config.columns) ||
        among(config.known) || among(config.statics))
      continue;
    std::optional<TableTime> time = row_numbers(table, i);
    if (!time || (!panel && rises(column.numbers))) continue;
    const std::optional<TableIds> ids = find_series_ids(table, *time, config);
    if (!ids || (!panel && ids->series.size() < 2) || !count_rows(*time, *ids)) continue;
    return time;
  }
  return std::nullopt;
}

}  // namespace modewise::data
