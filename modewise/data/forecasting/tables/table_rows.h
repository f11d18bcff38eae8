#pragma once
// Rows of a table on a time axis: order, calendar, changes of the clock, resampling.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/data/forecasting/tensor_cells.h"
#include "modewise/data/forecasting/time_axis.h"

namespace modewise::data {

/// The time axis of a table's rows in any order, by `config`: constant steps with gaps, equally spaced rows,
/// or resampled. Row r of the table is row `rows[r]` of the axis. A note says that the rows are not in order.
/// `line_of` as in lay_out_dates, `step` as in Calendar.
DatedRows lay_rows(std::span<const int64_t> dates, const LineOf& line_of, const io::DateStyle& style,
                   const std::string& source, const ForecastDataConfig& config,
                   const std::vector<ClockChange>& clock_changes = {}, int64_t step = 0);

/// Whether `config` resamples to whole days or months, which begin at midnight of the local clock.
bool pools_days(const ForecastDataConfig& config);

/// Cells first + c · stride of a tensor, c = 0, 1, 2, ….
struct ColumnCells {
  TensorCells tensor;
  int64_t first, stride;
};

/// Writes a column into cells that are NaN before: row i goes to cell `cells[i]`, or to i if `cells` is
/// empty. With resampling, the values of a cell that are not missing are aggregated by `config.resample_by`.
void place_numbers(const io::NumberCells& numbers, const TableTime& time, std::span<const int64_t> cells,
                   const ForecastDataConfig& config, const ColumnCells& out);

/// float32 if it rounds none of the numbers, else float64.
at::ScalarType type_of(std::span<const io::NumberCells* const> columns);

}  // namespace modewise::data
