#pragma once
// Dates written as numbers: Unix time, YYYYMMDDHH and its like, Excel serial days, decimal years.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "modewise/io/tables/date_time.h"
#include "modewise/io/tables/number_cells.h"

namespace modewise::io {

struct NumberDates {
  std::vector<int64_t> dates;  // kMissingDate where the number is NaN
  DateStyle style;             // fraction_digits > 0: fractions of a second were dropped
};

/// Unix time between 1973 and 2096 in seconds, or in milli-, micro- or nanoseconds: epoch_s, epoch_ms,
/// epoch_us, epoch_ns. `form` selects one; "": the one that fits.
std::optional<NumberDates> read_unix_time(const NumberCells& numbers, std::string_view form = "");

/// Whole numbers YYYYMM (from 1600 to 2299), YYYYMMDD, YYYYMMDDHH, YYYYMMDDHHMM, YYYYMMDDHHMMSS, all of one
/// length and all valid.
std::optional<NumberDates> read_calendar_numbers(const NumberCells& numbers);
/// Whole numbers of so many digits in a form of date_pattern.h: 2024031 is %Y%j.
std::optional<NumberDates> read_calendar_numbers(const NumberCells& numbers, size_t digits,
                                                 std::string_view pattern);

/// Days since 1899-12-30 with the time as fraction, from 1954 to 2119.
std::optional<NumberDates> read_excel_days(const NumberCells& numbers);

/// Years with fractions that count months, days or hours, from the start or middle of each: 2024.0417.
std::optional<NumberDates> read_decimal_years(const NumberCells& numbers);

/// Years alone, 1600 to 2299.
std::optional<NumberDates> read_years(const NumberCells& numbers);

}  // namespace modewise::io
