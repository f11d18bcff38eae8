#pragma once
// The time of a row in two columns: a date, and a clock time, an hour or a period of the day.

#include "modewise/data/forecasting/tables/clock_column.h"
#include "modewise/data/forecasting/tables/table_time.h"

namespace modewise::data {

/// Whether half or more of the distinct times are one difference apart, of at most a day.
bool is_regular(std::vector<int64_t> times);

/// Dates plus clock times; kMissingDate where one of them is missing.
std::vector<int64_t> sums(const std::vector<int64_t>& dates, const ClockColumn& clock);

/// Adds the clock times of column `i` to the dates of `time`. They decide between day and month where that is
/// ambiguous. Numbered hours or periods count on through a change of the clock.
void add_clock(const io::CsvTable& table, TableTime& time, size_t i, const ClockColumn& clock,
               const ForecastDataConfig& config);

}  // namespace modewise::data
