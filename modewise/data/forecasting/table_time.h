#pragma once
// Time columns of a CSV table: dates, columns year, month, day …, or Unix time.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/time_axis.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// File lines of a table's rows, for errors; found by reading the file again.
class TableLines {
 public:
  explicit TableLines(const io::CsvTable& table)
      : path_(table.source), delimiter_(table.delimiter), had_header_(table.had_header) {}
  const std::string& path() const { return path_; }
  int64_t operator()(int64_t row) const;

 private:
  std::string path_;
  char delimiter_;
  bool had_header_;
};

struct TableTime {
  std::vector<size_t> columns;  // time columns; empty: no dates
  std::vector<int64_t> dates;   // of each row; kMissingDate: empty cell
  io::DateStyle style;
  bool parts = false;  // the columns are year, month, day …
};

TimeColumns time_columns(const io::CsvTable& table, const TableTime& time);

/// Finds the time: the column of config.time_column, else the first column of dates, else columns year,
/// month, day, hour, minute, second (the first ones suffice), else Unix time in seconds or milliseconds, in a
/// column with such a name or a first column with a constant positive step. Data errors with line and columns
/// for parts that are not a date.
TableTime find_time(const io::CsvTable& table, const ForecastDataConfig& config);

/// A warning if day and month of the dates are ambiguous.
std::vector<std::string> date_warnings(const TableTime& time);

}  // namespace modewise::data
