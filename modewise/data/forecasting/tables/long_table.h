#pragma once
// Long tables (panels): one row per series and date (unique_id, ds, y), pivoted to one time axis.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/tables/series_table.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// "a long table of 3 series with the id 'store'".
std::string long_table_note(const std::vector<std::string>& id, int64_t series);
/// Whether a column of this name (unique_id, item_id, series_id, ts_id) names series in any table.
bool always_names_series(std::string_view column);
/// Whether a column of this name (id, station, symbol …) names series if dates repeat.
bool usually_names_series(std::string_view column);
/// Whether dates repeat, or neither increase nor decrease all along.
bool may_hold_several_series(const TableTime& time);

/// Finds the series id columns: those of `config`; else a column that always names series; else one of a
/// usual name such as id or station if dates repeat, or decrease in places, or if it holds texts on several
/// rows each, or all such columns together; else, if dates repeat, the column of texts that parts the rows
/// into series without equal dates. None for wide tables. Data errors if several columns qualify, if columns
/// that are not named like ids or hold numbers could part the rows.
std::optional<TableIds> find_series_ids(const io::CsvTable& table, const TableTime& time,
                                        const ForecastDataConfig& config);

/// find_series_ids, of which series the program can make something. Data errors: a table without dates that
/// is not read as a panel, and a table in which every row is its own series.
std::optional<TableIds> find_ids(const io::CsvTable& table, const TableTime& time,
                                 const ForecastDataConfig& config);

/// Distinct dates of all series, and their rows on the time axis.
struct Clock {
  std::vector<int64_t> dates;
  DatedRows laid;

  int64_t row_of(int64_t date) const;
};
/// The clock of a table with dates, by `config`. `step`: as in Calendar.
Clock shared_clock(const io::CsvTable& table, const TableTime& time,
                   const std::vector<ClockChange>& clock_changes, const ForecastDataConfig& config,
                   int64_t step = 0);

/// Data error for a row with the series and the date of row `first`: another column may tell them apart, or
/// one of them is too many.
[[noreturn]] void fail_second_row(const SeriesTable& read, int64_t first, int64_t row);

/// Pivots a long table to [T, series], or [T, series, variable] if there are several columns of values, NaN
/// where a series has no row. Data errors with lines: a duplicate date of a series, an empty date, dates
/// without a common step (lay_out_dates), series that share so few dates that the result would need more than
/// twice the file and 64 MiB.
Series lay_side_by_side(SeriesTable read);

}  // namespace modewise::data
