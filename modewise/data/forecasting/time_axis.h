#pragma once
// The time axis of a series: constant steps in seconds or in calendar months, found from a file's dates.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/tables/date_time.h"

namespace modewise::data {

struct TimeAxis {
  bool dated = false;  // without dates a row's time is its number
  int64_t start = 0;   // seconds since 1970-01-01T00:00:00, of row 0
  int64_t step = 0;    // seconds; 0 when the step is `months`
  int64_t months = 0;  // calendar months (12: years)
  int64_t month_day =
      0;  // day of the month of monthly steps, cut to the month's length (31: the last day; 0: as start)
  int64_t length = 0;   // rows
  io::DateStyle style;  // how the file writes its dates

  /// Time of `row` in seconds, or the row itself when not dated; continues before and beyond the data.
  int64_t at(int64_t row) const;
  /// `at` as the file would write it, or the row's number.
  std::string text_at(int64_t row) const;
  /// The first row at or after `seconds`, clamped to [0, length]. Needs dates.
  int64_t first_row_at(int64_t seconds) const;
  /// "1 h", "15 min", "1 month", "1 year"; "rows" when not dated.
  std::string frequency_text() const;
};

/// The line of the file in which row r stands.
using LineOf = std::function<int64_t(int64_t row)>;

/// Dates of a file laid on an axis: row r of the file is row `rows[r]` of the axis; `rows` is empty when it
/// would be 0, 1, 2, …. The gaps are the rows of the axis that no row of the file has.
struct DatedRows {
  TimeAxis axis;
  std::vector<int64_t> rows;
  int64_t missing_rows = 0;
  std::vector<std::string> notes;  // a sentence about the gaps, when there are any
};

/// Finds the step (the commonest difference; calendar months when all dates fall on one day of the month) and
/// fills gaps. Data errors, with file, line and both dates: equal dates, dates going back, a difference that
/// is no multiple of the step, gaps of more rows than the file has. `line_of` is asked only for errors.
DatedRows lay_out_dates(std::span<const int64_t> dates, const LineOf& line_of, const io::DateStyle& style,
                        const std::string& source);

/// For files whose dates do not fit a constant step but whose rows are to be used as they are (the published
/// Weather file has an hour twice): the rows are equally spaced by the commonest step up to the last date.
/// Nothing is filled; a note says where the dates differ.
DatedRows space_rows_equally(std::span<const int64_t> dates, const LineOf& line_of,
                             const io::DateStyle& style, const std::string& source);

struct Step {
  int64_t seconds = 0, months = 0;  // one of them is 0
};
/// "15 min" → {900, 0}; "1 month" → {0, 1}. Config error, which speaks of `option`, when it is no step.
Step parse_step(const std::string& text, const std::string& option);

/// For dates at uneven or too short steps: those from the beginning of a step to that of the next fall on one
/// row of the axis, so that `rows` holds some twice. Steps count from 1970-01-01 00:00, whole weeks from a
/// Monday, months from the first of January. Data errors: an empty date, dates going back, a step shorter
/// than half of the differences of the dates, more steps without a date than with one.
DatedRows pool_dates(std::span<const int64_t> dates, Step step, const LineOf& line_of,
                     const io::DateStyle& style, const std::string& source);

}  // namespace modewise::data
