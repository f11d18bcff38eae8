#pragma once
// Whole numbers as the times of a panel's rows: ds = 1, 2, 3 … for each series.

#include <cstddef>
#include <optional>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// The whole numbers of a column as times that are not dates; nullopt for other columns.
std::optional<TableTime> row_numbers(const io::CsvTable& table, size_t column);

/// The first column of a usual name (ds, t, step, week …) whose whole numbers count the rows of several
/// series: there are columns of series ids, no series has a number twice, and most of its numbers are one
/// step apart. With data.panel = yes one series is enough.
std::optional<TableTime> find_counted_rows(const io::CsvTable& table, const ForecastDataConfig& config);

}  // namespace modewise::data
