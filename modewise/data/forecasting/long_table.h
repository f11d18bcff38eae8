#pragma once
// Long tables: a row a series and date (unique_id, ds, y), laid side by side on one clock.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/table_time.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// Which series the rows of a long table are of.
struct TableIds {
  std::vector<size_t> columns;
  std::vector<std::string> labels;              // in the order of the file; of several columns joined by "/"
  std::vector<std::vector<std::string>> cells;  // of each label, one a column
  std::vector<int32_t> of_row;                  // the number of each row's label
};

/// By the columns that `config` names; else, where dates repeat or go back, the column (of texts, or of whole
/// numbers under a name such as id) that together with the dates tells all rows apart, or all columns under
/// such names. None for other tables.
/// Data errors where several columns could be it, and where there is a series a row.
std::optional<TableIds> find_ids(const io::CsvTable& table, const TableTime& time,
                                 const ForecastDataConfig& config);

/// The columns `values` of the table as [T, series] or, where they are several, [T, series, variable], NaN
/// where a series has no row. Data errors with lines: a series that has a date twice, an empty date, dates
/// that make no clock (lay_out_dates), series that share so few dates that side by side they would take more
/// than twice the file and 64 MiB.
Series lay_side_by_side(io::CsvTable table, const TableTime& time, const TableIds& ids,
                        const std::vector<size_t>& values, const ForecastDataConfig& config);

}  // namespace modewise::data
