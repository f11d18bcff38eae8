#pragma once
// Which columns of a table are values.

#include <cstddef>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/tables/series_table.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

/// Positions of `names` selected by `columns` and `drop`, in the order of `columns`. Config error with the
/// nearest name for an unknown name.
std::vector<size_t> chosen_columns(const std::vector<std::string>& names, const ForecastDataConfig& config,
                                   const std::string& source);

/// Indices of the variable columns; notes explain the others.
std::vector<size_t> variable_columns(SeriesTable& read);

/// The columns of config.variables, in their order, with a warning if it or the columns differ; as they are
/// if one is not there.
std::vector<size_t> matched_by_name(std::vector<size_t> columns, SeriesTable& read);

/// Finds the columns of `like` in this table.
std::vector<size_t> same_variables(const io::CsvTable& table, const ForecastDataConfig& config,
                                   const Frame& like, const std::string& like_path);

/// Data error for a column with another unit than in the first file; a warning if one of them has none.
void compare_units(SeriesTable& read, const Frame& like, const std::string& like_path);

}  // namespace modewise::data
