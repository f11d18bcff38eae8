#pragma once
// Tables with one series per row: dates in the header, or numbered columns (V1, V2 …; d_1, d_2 …).

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// Whether the header of a CSV file has three or more increasing or decreasing dates, or four or more years,
/// after a column without dates, and at most three columns such as a total behind them.
bool has_dates_in_header(const std::string& path, const io::CsvOptions& options);

/// Whether the series of a CSV file are its rows: `config.orient` is rows; or it is auto, and the header has
/// dates.
bool has_series_in_rows(const ForecastDataConfig& config, const io::CsvOptions& options);

/// Reads such a file: [T, N], N labelled by `config.id`, else by the first column whose cells differ, else by
/// all columns of texts before the first value. Without dates in the header, series end in the last row:
/// missing cells at the end of a line move to the beginning. Data errors: labels that repeat, values that are
/// not numbers, and those of lay_rows.
Series read_series_in_rows(const ForecastDataConfig& config, const io::CsvOptions& options);

/// Data error that names data.orient, if `config.orient` is auto and the rows may be the series: no dates,
/// and different texts in a first column, followed by six or more numbered columns.
void require_known_orient(const io::CsvTable& table, const TableTime& time, const ForecastDataConfig& config);

}  // namespace modewise::data
