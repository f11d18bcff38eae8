#pragma once
// Tables with a row for each year and a column for each of its months, or a row for each day and a column for
// each of its hours: one series.

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// Data error that names data.orient, if `config.orient` is auto and a dated table looks like that.
void require_no_periods(const io::CsvTable& table, const TableTime& time, const ForecastDataConfig& config);

/// data.orient = periods: makes such a table one with a row for each month or hour, by date, of the time, the
/// columns of texts and the names of series, and the column "value". It ends with the last value. Data
/// errors: no such columns, or texts in them.
void unfold_periods(io::CsvTable& table, TableTime& time, const ForecastDataConfig& config);

}  // namespace modewise::data
