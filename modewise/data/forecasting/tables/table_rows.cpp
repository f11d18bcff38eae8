#include "modewise/data/forecasting/tables/table_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "modewise/core/error.h"

namespace modewise::data {
namespace {

/// Rows from the earliest date to the latest; equal dates in the order of rows, or, if the last row is the
/// earliest, against it.
std::vector<int64_t> rows_by_date(std::span<const int64_t> dates) {
  std::vector<int64_t> order(dates.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  if (dates.size() > 1 && dates.front() > dates.back()) std::reverse(order.begin(), order.end());
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return dates[static_cast<size_t>(a)] < dates[static_cast<size_t>(b)];
  });
  return order;
}

std::string order_note(std::span<const int64_t> dates, const LineOf& line_of, const io::DateStyle& style) {
  if (std::is_sorted(dates.rbegin(), dates.rend()))
    return "the rows are in descending order of dates and are read from the last to the first";
  size_t row = 1;
  while (dates[row] >= dates[row - 1]) ++row;
  return fmt::format("the rows are sorted by date; {} in line {} comes before the date of the line above",
                     io::format_date_time(dates[row], style), line_of(static_cast<int64_t>(row)));
}

DatedRows lay_sorted(std::span<const int64_t> dates, const LineOf& line_of, const io::DateStyle& style,
                     const std::string& source, const ForecastDataConfig& config,
                     const std::vector<ClockChange>& clock_changes, int64_t step) {
  const Calendar calendar{config.calendar_days, config.week, config.panel == "yes", step};
  DatedRows laid;
  if (!config.resample.empty())
    laid = pool_dates(dates, parse_step(config.resample, "data.resample"), line_of, style, source, calendar);
  else if (config.dates == "rows")
    laid = space_rows_equally(dates, line_of, style, source);
  else
    laid = lay_out_dates(dates, line_of, style, source, calendar);
  if (!pools_days(config)) laid.axis.clock_changes = clock_changes;
  return laid;
}

}  // namespace

bool pools_days(const ForecastDataConfig& config) {
  if (config.resample.empty()) return false;
  const Step step = parse_step(config.resample, "data.resample");
  return step.months > 0 || step.seconds % io::kSecondsOfDay == 0;
}

DatedRows lay_rows(std::span<const int64_t> dates, const LineOf& line_of, const io::DateStyle& style,
                   const std::string& source, const ForecastDataConfig& config,
                   const std::vector<ClockChange>& clock_changes, int64_t step) {
  const bool as_they_stand = config.dates == "rows";
  if (config.follows && dates.size() == 1 && dates[0] != io::kMissingDate) {
    DatedRows one;
    one.axis.dated = true;
    one.axis.start = dates[0];
    one.axis.length = 1;
    one.axis.style = style;
    return one;
  }
  require(config.resample.empty() || !as_they_stand, ErrorKind::config,
          "data.resample needs dates, which data.dates = rows ignores: set only one of them");
  const bool sorted = std::is_sorted(dates.begin(), dates.end());
  const bool in_order = sorted || (as_they_stand && !std::is_sorted(dates.rbegin(), dates.rend()));
  if (in_order) return lay_sorted(dates, line_of, style, source, config, clock_changes, step);

  const std::vector<int64_t> order = rows_by_date(dates);
  std::vector<int64_t> rising;
  for (const int64_t row : order) rising.push_back(dates[static_cast<size_t>(row)]);
  const auto line_of_sorted = [&](int64_t at) { return line_of(order[static_cast<size_t>(at)]); };
  DatedRows laid = lay_sorted(rising, line_of_sorted, style, source, config, clock_changes, step);
  std::vector<int64_t> rows(dates.size());
  for (size_t i = 0; i < order.size(); ++i)
    rows[static_cast<size_t>(order[i])] = laid.rows.empty() ? static_cast<int64_t>(i) : laid.rows[i];
  laid.rows = std::move(rows);
  if (config.resample.empty()) laid.notes.insert(laid.notes.begin(), order_note(dates, line_of, style));
  return laid;
}

void place_numbers(const io::NumberCells& numbers, const TableTime& time, std::span<const int64_t> cells,
                   const ForecastDataConfig& config, const ColumnCells& out) {
  const auto place_of = [&](int64_t cell) { return out.first + cell * out.stride; };
  if (config.resample.empty()) {
    for (size_t row = 0; row < numbers.size(); ++row)
      out.tensor.set(place_of(cells.empty() ? static_cast<int64_t>(row) : cells[row]), numbers[row]);
    return;
  }
  // Per cell: number of values, or date of the last one.
  const int64_t maximum = *std::max_element(cells.begin(), cells.end()) + 1;
  std::vector<int64_t> had(static_cast<size_t>(maximum), io::kMissingDate);
  for (size_t row = 0; row < numbers.size(); ++row) {
    const double number = numbers[row];
    if (std::isnan(number)) continue;
    const int64_t place = place_of(cells[row]);
    int64_t& seen = had[static_cast<size_t>(cells[row])];
    const bool first = seen == io::kMissingDate;
    if (config.resample_by == "last") {
      if (time.dates[row] >= seen) out.tensor.set(place, number);
      seen = std::max(seen, time.dates[row]);
    } else {
      out.tensor.set(place, first ? number : out.tensor[place] + number);
      seen = first ? 1 : seen + 1;
    }
  }
  if (config.resample_by != "mean") return;
  for (int64_t cell = 0; cell < maximum; ++cell)
    if (const int64_t count = had[static_cast<size_t>(cell)]; count > 1)
      out.tensor.set(place_of(cell), out.tensor[place_of(cell)] / static_cast<double>(count));
}

at::ScalarType type_of(std::span<const io::NumberCells* const> columns) {
  const bool exact = std::all_of(columns.begin(), columns.end(), [](const io::NumberCells* column) {
    return std::all_of(column->begin(), column->end(), [](double x) {
      return std::isnan(x) || static_cast<double>(static_cast<float>(x)) == x;
    });
  });
  return exact ? at::kFloat : at::kDouble;
}

}  // namespace modewise::data
