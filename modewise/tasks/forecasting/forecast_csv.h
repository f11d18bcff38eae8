#pragma once
// Cells of forecasts in CSV files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/data/forecasting/series.h"
#include "modewise/report/csv_cell.h"

namespace modewise::tasks {

/// The cells, separated by commas.
std::string cells_text(const std::vector<std::string>& cells, report::CsvReader reader);
/// A value with the precision of a float32 that is scaled by `unit`, the standard deviation of its series: a
/// series far from 0 has more digits. Empty for NaN: a series without a forecast.
std::string number_text(double value, double unit);
/// ",OT,OT_q0.025,…": each name with its quantiles, after a comma.
std::string value_names(const std::vector<std::string>& names, const std::vector<double>& levels,
                        report::CsvReader reader);
/// Names of the time columns; "date" or "row" for tables without.
std::string time_names(const data::TimeColumns& columns, bool dated, report::CsvReader reader);
/// A date in one cell per time column; `text` is the date in the file's format, if it has one column.
std::string time_cells(const data::TimeColumns& columns, const std::string& text, int64_t seconds);

/// CSV rows, each after `prefix`; cells may have line breaks.
std::string prefixed_rows(std::string_view rows, const std::string& prefix);

}  // namespace modewise::tasks
