#pragma once
// Time of a panel: the rows of each series on a clock of one step, which is that within the series.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/tables/series_table.h"
#include "modewise/data/forecasting/time_axis.h"

namespace modewise::data {

/// Rows of the table by series and date: rows [begins[s], begins[s + 1]) of `rows` are those of series s.
struct RowsOfSeries {
  std::vector<int64_t> rows, begins;

  int64_t series() const { return std::ssize(begins) - 1; }
  std::span<const int64_t> of(size_t s) const {
    return std::span(rows).subspan(static_cast<size_t>(begins[s]),
                                   static_cast<size_t>(begins[s + 1] - begins[s]));
  }
};
RowsOfSeries group_rows(const SeriesTable& table);

struct PanelClock {
  TimeAxis axis;                    // earliest start and step
  std::vector<int64_t> starts;      // S: row of the axis of the first row of each series
  std::vector<SeriesPhase> phases;  // S; empty: all dates are on the axis
  std::vector<int64_t> rows;        // of each row of RowsOfSeries: row of its series
  std::vector<std::string> notes;
};

/// Puts the rows of each series on one clock. The step is the most common difference of consecutive dates
/// within the series (calendar months if the dates of each series are monthly); series may have other phases,
/// such as weekly ones on different weekdays. Without dates the rows are in file order. With data.dates =
/// rows the rows of each series are equally spaced up to its last date; with data.resample they are pooled.
/// Data errors with lines: an empty date, dates of a series that are not whole steps apart, a series whose
/// usual step differs.
PanelClock lay_series(const SeriesTable& table, const RowsOfSeries& grouped,
                      const ForecastDataConfig& config);

}  // namespace modewise::data
