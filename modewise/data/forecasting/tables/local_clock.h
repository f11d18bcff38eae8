#pragma once
// Local clocks with daylight saving time: tables whose dates repeat an hour in autumn and leave one out in
// spring.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/data/forecasting/time_axis.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

struct LocalClock {
  std::vector<int64_t> dates;        // of each row, as if the clock of the first date did not change
  std::vector<ClockChange> changes;  // ascending
  std::optional<size_t> column;      // column that distinguishes daylight saving time from standard time
  std::string note;
};

/// Finds the changes of the clock: by a column of two values that is another one in each season (CET and
/// CEST, Y and N), else by the order of rows, which repeats an hour of a Sunday night once a year. An hour
/// left out on a Sunday night of spring is a change if the table repeats one in autumn or ends before autumn.
/// `series_of_row`: series of each row of a long table, else empty. None if the dates need no change, or none
/// explains them.
std::optional<LocalClock> find_local_clock(const io::CsvTable& table, const TableTime& time,
                                           std::span<const int32_t> series_of_row);

/// Dates on the local clock of each row, for columns whose UTC offset changes over the year; TableTime has
/// them in UTC. None for other columns.
std::optional<std::vector<int64_t>> local_dates(const io::CsvTable& table, const TableTime& time,
                                                io::CsvOptions options);

/// Whether the dates are days or longer steps: all at one time of the day, a single one at midnight.
bool are_days(std::span<const int64_t> dates);

/// Takes days that are written with a UTC offset which changes over the year as days of the local clock;
/// `time` had them in UTC. Later days get the offsets of config.time_zone, or of a usual zone with those of
/// all rows, else the last offset. Returns a note; none if the dates are not such days.
std::optional<std::string> take_local_days(const io::CsvTable& table, TableTime& time,
                                           const ForecastDataConfig& config, io::CsvOptions options);

}  // namespace modewise::data
