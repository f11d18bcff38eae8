#pragma once
// Dates in several columns: year and month, year and quarter, year and day of the year ….

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "modewise/data/forecasting/series.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

struct DateParts {
  std::vector<size_t> columns;
  std::vector<int64_t> dates;
  io::DateStyle style;
  std::vector<TimeCell> cells;  // of the columns; empty: plain numbers year, month, day, hour, minute, second
  bool hours_end = false;       // hours from 1 to 24: 1 is 00:00 to 01:00
};

/// Reads a year and what stands besides it: a month (number, name or M01) with day, hour, minute and second
/// as far as they exist, a quarter (1, Q1), an ISO week (1, W01) or a day of the year with an hour; a year
/// alone only as the first column. `taken`: columns of another use. Data errors for rows that give no date.
std::optional<DateParts> read_date_parts(const io::CsvTable& table,
                                         const std::function<bool(const io::CsvColumn&)>& taken);

}  // namespace modewise::data
