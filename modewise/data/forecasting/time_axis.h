#pragma once
// Time axis of a series: constant steps in seconds or calendar months, detected from a file's dates.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "modewise/io/tables/date_time.h"

namespace modewise::data {

/// Change of a local clock, such as the end of daylight saving time.
struct ClockChange {
  int64_t from = 0;   // time without changes, in seconds as TimeAxis::start
  int64_t shift = 0;  // seconds that the clock differs from then on
  bool operator==(const ClockChange&) const = default;
};

/// Dates of a series that has the step of a clock: the date of its row 0, and as in TimeAxis.
struct SeriesPhase {
  int64_t start = 0;
  int64_t month_day = 0;
  bool business = false;
};

struct TimeAxis {
  bool dated =
      false;  // false: the time of a row is a number, start + row · step, or its index without a step
  int64_t start = 0;   // seconds since 1970-01-01T00:00:00, of row 0
  int64_t step = 0;    // seconds; 0 when the step is `months`
  int64_t months = 0;  // calendar months (12: years)
  int64_t month_day =
      0;  // day of the month of monthly steps, cut to the month's length (31: the last day; 0: as start)
  int64_t length = 0;     // rows
  io::DateStyle style;    // date format of the file
  bool business = false;  // monthly steps: the first (month_day 1) or last (31) day from Monday to Friday
  /// Weekly calendar: the times of the week that have a row, in seconds since Monday 00:00, ascending. Empty:
  /// every step has a row.
  std::vector<int64_t> week = {};
  std::vector<ClockChange> clock_changes = {};  // ascending; at() shows the clock

  /// Time of `row` in seconds, or the row index if not dated; also before and beyond the data.
  int64_t at(int64_t row) const;
  /// The same for a series of another phase.
  int64_t at(int64_t row, const SeriesPhase& phase) const;
  /// Whether rows have a time besides their index: dates, or numbers.
  bool has_times() const { return dated || step != 0; }
  /// `at` in the file's date format, or the row index.
  std::string text_at(int64_t row) const;
  /// The first row at or after `seconds`, clamped to [0, length]. Needs times.
  int64_t first_row_at(int64_t seconds) const;
  /// The row of a time without clock changes, or of the next one that has a row; also before and beyond the
  /// data. Needs times.
  int64_t row_of(int64_t seconds) const;
  /// "1 h", "15 min", "1 month", "1 year", "1 business day"; "rows", or the step of numbers, when not dated.
  std::string frequency_text() const;
};

/// Line in the file of row r.
using LineOf = std::function<int64_t(int64_t row)>;

/// Time axis of a file's dates: row r of the file is row `rows[r]` of the axis; empty `rows`: 0, 1, 2, ….
/// Gaps are rows of the axis without a row of the file.
struct DatedRows {
  TimeAxis axis;
  std::vector<int64_t> rows;
  int64_t missing_rows = 0;
  std::vector<std::string> notes;  // a sentence about gaps, if any
};

/// Calendar of the rows.
struct Calendar {
  /// auto: a weekly calendar if dates of two weeks or more are all from Monday to Friday, or if dates of four
  /// weeks or more leave out times of the week that chance would not; all: every step; business: Monday to
  /// Friday; observed: the times of the week that the dates have.
  std::string days = "auto";
  std::vector<int64_t> week;  // as in TimeAxis; if not empty, the calendar
  bool sparse = false;        // any number of steps may be without a date
  int64_t step = 0;           // seconds or months between rows; 0: the most common difference
};

/// Dates as numbers: seconds, or months if the dates, which increase, are monthly; sets axis.month_day and
/// axis.business of monthly ones.
std::vector<int64_t> date_positions(std::span<const int64_t> dates, TimeAxis& axis);
/// Data error for an empty date, with its line.
void require_dates(std::span<const int64_t> dates, const LineOf& line_of, const std::string& source);
/// Number of a date on the calendar of months, and seconds of a day of such a month (cut to its length).
int64_t month_number(int64_t seconds);
int64_t seconds_in_month(int64_t month_number, int64_t month_day);

/// How often each positive difference of consecutive positions occurs; add() may be called for each series.
class Differences {
 public:
  void add(std::span<const int64_t> positions);
  int64_t commonest() const;  // the smallest of equally frequent ones; 0: none
  int64_t count(int64_t step) const;
  int64_t all() const { return all_; }

 private:
  std::unordered_map<int64_t, int64_t> counts_;
  int64_t all_ = 0;
};

/// "1 h", "2 months", "1 year".
std::string step_text(int64_t seconds, int64_t months);
/// The weekly calendar of the dates that `calendar` allows; empty: none. `step`: seconds between rows.
std::vector<int64_t> week_of(std::span<const int64_t> dates, int64_t step, const Calendar& calendar);

/// Detects the step (the most common difference; calendar months if all dates are on one day of the month, or
/// on its first or last business day), the calendar, and fills gaps. Data errors, with file, line and both
/// dates: equal or decreasing dates, a difference that is not a multiple of the step, a date outside the
/// calendar, gaps of more rows than the file has. `line_of` is called only for errors.
DatedRows lay_out_dates(std::span<const int64_t> dates, const LineOf& line_of, const io::DateStyle& style,
                        const std::string& source, const Calendar& calendar = {});

/// For files without a constant step whose rows are used unchanged (the published Weather file has a
/// duplicate hour): rows are equally spaced by the most common step up to the last date. Nothing is filled; a
/// note names the first date that differs.
DatedRows space_rows_equally(std::span<const int64_t> dates, const LineOf& line_of,
                             const io::DateStyle& style, const std::string& source);

struct Step {
  int64_t seconds = 0, months = 0;  // one of them is 0
};
/// "15 min" → {900, 0}; "1 month" → {0, 1}. Config error naming `option` if it is not a step.
Step parse_step(const std::string& text, const std::string& option);

/// Resampling of irregular or frequent dates: all dates within a step map to one row of the axis, so `rows`
/// has duplicates. Steps count from 1970-01-01 00:00, whole weeks from a Monday, months from January 1. Data
/// errors: an empty date, decreasing dates, a step shorter than half of the date differences, more steps
/// of the calendar without a date than with one.
DatedRows pool_dates(std::span<const int64_t> dates, Step step, const LineOf& line_of,
                     const io::DateStyle& style, const std::string& source, const Calendar& calendar = {});

}  // namespace modewise::data
