#pragma once
// Time columns of a CSV table: dates, dates and clock times, columns year, month, day …, or numbers.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/tables/table_lines.h"
#include "modewise/data/forecasting/time_axis.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

struct TableTime {
  std::vector<size_t> columns;  // time columns; empty: no dates
  std::vector<int64_t> dates;   // of each row; kMissingDate: empty cell
  io::DateStyle style;
  bool parts = false;           // the columns are year, month, day …
  bool counted = false;         // the times are whole numbers, not dates, of the rows of each series
  std::vector<TimeCell> cells;  // of two columns, date and clock
  std::vector<size_t> others;   // columns that are not variables: further times, row indices
  std::vector<std::string> notes, warnings;

  /// Columns that are not variables.
  std::vector<size_t> taken() const;
  bool takes(size_t column) const;
};

/// The distinct dates, ascending.
std::vector<int64_t> sorted_distinct(std::span<const int64_t> dates);

TimeColumns time_columns(const io::CsvTable& table, const TableTime& time);
/// The cells of two time columns.
std::vector<std::string> time_cells(const TimeColumns& columns, int64_t seconds);

/// Whether a column has a name of row numbers: No, index, id …
bool names_row(const std::string& name);
/// Whether the config names the time columns.
bool names_time(const ForecastDataConfig& config);
/// CsvOptions::is_text for config.time_format: the columns that are read by a pattern.
std::function<bool(std::string_view)> time_texts(const ForecastDataConfig& config);

/// Finds the time: the columns of config.time in the form of config.time_format, else the first column of
/// dates (with a column of clock times, hours or periods if the dates have none), else columns year, month,
/// day, hour, minute, second (the first ones suffice), else numbers (date_numbers.h) in a column whose name
/// says time or a first column with a constant positive step. Errors name the line and the options: parts
/// that are not a date, a column whose name says time but whose cells are not understood.
TableTime find_time(const io::CsvTable& table, const ForecastDataConfig& config);

/// The order of day and month of dates in numbers, "day_first" or "month_first"; "": another form.
std::string date_order_of(const io::DateStyle& style);
/// Reads dates that fit both orders of day and month in the order of config.date_order, if it is set. Data
/// error for dates that do not fit it.
void follow_date_order(const io::CsvTable& table, TableTime& time, const ForecastDataConfig& config);

/// Warnings of `time`, and if day and month, year or zone of the dates are ambiguous.
std::vector<std::string> date_warnings(const TableTime& time);

}  // namespace modewise::data
