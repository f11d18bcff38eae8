#pragma once
// When the rows of a CSV table were: a column of dates, columns year, month, day …, or seconds since 1970.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/time_axis.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// Lines of a table's rows, found by reading the file again: only errors ask for them.
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
  std::vector<size_t> columns;  // those that say it; none where the table has no dates
  std::vector<int64_t> dates;   // one a row, kMissingDate where the cell is empty
  io::DateStyle style;
  bool parts = false;  // the columns are year, month, day …
};

TimeColumns time_columns(const io::CsvTable& table, const TableTime& time);

/// The time column that `config` names, else the first column of dates, else columns year, month, day, hour,
/// minute, second as far as they go, else whole numbers that are seconds or milliseconds since 1970: in a
/// column that is named so, or in a first column that rises by a constant step. Data errors with line and
/// columns for parts that give no date.
TableTime find_time(const io::CsvTable& table, const ForecastDataConfig& config);

/// The rows of a table on a time axis, as `config` asks for it: at constant steps with gaps, as equally
/// spaced as they stand, or pooled. `line_of` as in lay_out_dates.
DatedRows lay_rows(std::span<const int64_t> dates, const LineOf& line_of, const io::DateStyle& style,
                   const std::string& source, const ForecastDataConfig& config);

/// Puts the numbers of a column into cells, `stride` apart from `out` on, all NaN before: that of row i into
/// cell `cells[i]`, or i where `cells` is empty. Where rows are pooled, those of a cell that are not missing
/// become one by `config.resample_by`.
void place_numbers(std::span<const double> numbers, const TableTime& time, std::span<const int64_t> cells,
                   const ForecastDataConfig& config, double* out, int64_t stride);

/// A sentence where day and month of the dates could be exchanged.
std::vector<std::string> date_warnings(const TableTime& time);

}  // namespace modewise::data
