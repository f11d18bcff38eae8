#pragma once
// Clock columns of a CSV table: the time of day in a column besides the dates, as clock times, hours,
// numbered periods or minutes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "modewise/data/forecasting/series.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

struct ClockColumn {
  std::vector<int64_t> seconds;  // of the day, per row; kMissingDate: empty cell
  TimeCell cell;
  bool seconds_shown = false;  // the clock has seconds
  std::string meaning;         // for notes: "hours 1 to 24, which end at their number"; "": clock times
};

/// Reads clock times (17:24:00, 5:24 p.m., 24:00), hours 0 to 23 or 1 to 24 (the repeated hour of the end of
/// daylight saving as 02X), hhmm (0 to 2359), minutes of the day, or periods of which 24, 48, 96 or 288 make
/// a day; numbers only where the name says so. nullopt for any other column.
std::optional<ClockColumn> read_clock_column(const io::CsvColumn& column);

}  // namespace modewise::data
