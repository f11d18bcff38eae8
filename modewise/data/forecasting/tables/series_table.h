#pragma once
// A CSV table on its way from the parser to a series.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/tables/series_ids.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/data/forecasting/time_axis.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// Series ids of a long table.
struct TableIds {
  std::vector<size_t> columns;
  SeriesIds series;             // in file order
  std::vector<int32_t> of_row;  // series of each row
};

/// A static covariate: one category or number for each series.
struct StaticColumn {
  std::string name;
  bool numeric = false;
  std::vector<std::string> words;  // of each series, "" where missing; empty if numeric
  std::vector<double> numbers;     // of each series, NaN where missing; empty unless numeric
};

/// Typed columns, then their time, series ids and columns of values. A column is empty once it is converted.
struct SeriesTable {
  io::CsvTable table;
  ForecastDataConfig config;  // names of categories replaced
  TableTime time;
  std::vector<ClockChange> clock_changes;             // of the local clock, left out of the dates
  std::vector<size_t> clock_columns;                  // that distinguish daylight saving time, at most one
  TableIds ids;                                       // no columns: the table is one series
  std::vector<StaticColumn> statics;                  // of a panel
  std::vector<size_t> values;                         // columns of values
  std::map<std::string, std::string> constant_texts;  // constant text columns: column → value
  std::vector<std::string> notes, warnings;           // as in Series

  bool is_long() const { return !ids.columns.empty(); }
  /// Units that are left out of the numbers of the columns of values, by column: {"load": "kWh"}.
  std::map<std::string, std::string> units() const;
};

/// Dates by series, ascending within each: those of series s are dates[begins[s]] to dates[begins[s + 1]].
struct DatesBySeries {
  std::vector<int64_t> dates;
  std::vector<size_t> begins;

  /// Whether `fits(earlier, later)` holds for two consecutive dates of a series.
  template <class Fits>
  bool any_two(const Fits& fits) const {
    for (size_t s = 0; s + 1 < begins.size(); ++s)
      for (size_t i = begins[s] + 1; i < begins[s + 1]; ++i)
        if (fits(dates[i - 1], dates[i])) return true;
    return false;
  }
};
/// `series`: series of each row; empty: one.
DatesBySeries dates_by_series(std::span<const int64_t> dates, std::span<const int32_t> series);

/// A CSV file of a folder, on its time axis.
struct Frame {
  Series series;                                      // one mode, the variables; NaN where missing
  std::vector<std::string> header;                    // every column of the file
  std::map<std::string, std::string> constant_texts;  // as in SeriesTable
};

}  // namespace modewise::data
