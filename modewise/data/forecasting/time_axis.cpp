#include "modewise/data/forecasting/time_axis.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/io/ascii.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {
namespace {

constexpr int64_t kDay = io::kSecondsOfDay, kWeek = 7 * kDay;
constexpr int64_t kFirstMonday = 4 * kDay;  // 1970-01-05
constexpr const char* kRowsRemedy = "data.dates = \"rows\" reads the rows as equally spaced";

int64_t month_index(const io::CivilTime& time) {
  return time.year * 12 + time.month - 1;
}

int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// Monday 00:00 of the week of a time.
int64_t monday_of(int64_t seconds) {
  return floor_divide(seconds - kFirstMonday, kWeek) * kWeek + kFirstMonday;
}

bool on_weekend(int64_t seconds) {
  return seconds - monday_of(seconds) >= 5 * kDay;
}

/// A date of a weekend moves to the Monday after the first day of a month (month_day 1), or to the Friday
/// before its last.
int64_t to_business_day(int64_t seconds, int64_t month_day) {
  if (!on_weekend(seconds)) return seconds;
  const int64_t day = (seconds - monday_of(seconds)) / kDay;  // 5 or 6
  return seconds + (month_day == 1 ? 7 - day : 4 - day) * kDay;
}

/// Seconds of day `month_day` (clamped to the month's length) of a month, `clock` seconds into the day.
int64_t in_month(int64_t index, int64_t month_day, int64_t clock) {
  const int64_t year = index >= 0 ? index / 12 : (index - 11) / 12;
  const int month = static_cast<int>(index - year * 12) + 1;
  const int day = static_cast<int>(std::min<int64_t>(month_day, io::days_in_month(year, month)));
  return io::to_seconds({year, month, day, 0, 0, 0}) + clock;
}

int64_t clock_of(const io::CivilTime& time) {
  return time.hour * 3600 + time.minute * 60 + time.second;
}

/// Options for dates without a constant step.
std::string remedy(int64_t seconds, int64_t months) {
  return fmt::format("; data.resample = \"{}\" or another step pools dates, {}", step_text(seconds, months),
                     kRowsRemedy);
}

/// The day of the month that all dates share (31: the last day), or 0 when they are not monthly.
int64_t shared_month_day(std::span<const int64_t> dates) {
  for (size_t row = 1; row < dates.size(); ++row)
    if (dates[row] - dates[row - 1] < 28 * kDay) return 0;
  const int64_t clock = dates.empty() ? 0 : clock_of(io::to_civil(dates[0]));
  int64_t latest = 0;
  bool all_ends = true;
  for (const int64_t date : dates) {
    const io::CivilTime time = io::to_civil(date);
    if (clock_of(time) != clock) return 0;
    latest = std::max<int64_t>(latest, time.day);
    all_ends = all_ends && time.day == io::days_in_month(time.year, time.month);
  }
  if (all_ends) return 31;
  for (const int64_t date : dates) {
    const io::CivilTime time = io::to_civil(date);
    if (time.day != std::min<int64_t>(latest, io::days_in_month(time.year, time.month))) return 0;
  }
  return latest;
}

struct Commonest {
  int64_t step = 0, count = 0;
};
/// The most common difference, or `step` if it is not 0.
Commonest commonest_difference(std::span<const int64_t> positions, int64_t step = 0) {
  Differences differences;
  differences.add(positions);
  if (step == 0) step = differences.commonest();
  return {step, differences.count(step)};
}

std::string gap_note(std::span<const int64_t> dates, std::span<const int64_t> positions, int64_t step,
                     int64_t missing_rows, const io::DateStyle& style) {
  int64_t gaps = 0, longest = 0;
  size_t after = 0;
  for (size_t row = 1; row < positions.size(); ++row) {
    const int64_t rows = (positions[row] - positions[row - 1]) / step - 1;
    gaps += rows > 0;
    if (rows > longest) {
      longest = rows;
      after = row - 1;
    }
  }
  const std::string where = io::format_date_time(dates[after], style);
  if (gaps == 1)
    return fmt::format("a gap of {} row{} after {} is filled as missing", missing_rows,
                       missing_rows == 1 ? "" : "s", where);
  return fmt::format("{} gaps of {} rows in all are filled as missing; the longest, {} row{}, comes after {}",
                     gaps, missing_rows, longest, longest == 1 ? "" : "s", where);
}

/// Start of step 0; whole weeks begin on the first Monday of 1970.
int64_t first_step(Step step) {
  return step.seconds % (7 * kDay) == 0 ? 4 * kDay : 0;
}

/// Median difference of consecutive dates; 0 if there are none.
int64_t median_difference(std::span<const int64_t> dates) {
  std::vector<int64_t> differences;
  for (size_t i = 1; i < dates.size(); ++i)
    if (dates[i] > dates[i - 1]) differences.push_back(dates[i] - dates[i - 1]);
  if (differences.empty()) return 0;
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  return *middle;
}

/// Options for dates that repeat. Rows of equal dates are never taken as equally spaced if there are many:
/// they belong to several series.
std::string remedy_of_repeats(std::span<const int64_t> dates, const io::DateStyle& style) {
  std::string text =
      "; data.id names the columns of the series ids of a long table, data.resample = \"1 day\" or another "
      "step pools equal dates";
  if (style.clock != io::DateStyle::no_clock)
    text +=
        ", a column of zones or UTC offsets tells the hour apart that repeats at the end of daylight saving "
        "time, and so does data.time_zone = \"Europe/Berlin\" or another zone";
  size_t repeats = 0;
  for (size_t i = 1; i < dates.size(); ++i) repeats += dates[i] == dates[i - 1];
  return 100 * repeats <= dates.size() ? text + "; " + kRowsRemedy : text;
}

/// The date of row `row` is empty: with one the line may be left out, several may be merged cells.
[[noreturn]] void fail_empty_date(std::span<const int64_t> dates, size_t row, const LineOf& line_of,
                                  const std::string& source) {
  const int64_t line = line_of(static_cast<int64_t>(row));
  const auto empty = std::count(dates.begin(), dates.end(), io::kMissingDate);
  fail(ErrorKind::data, "{}:{}: expected a date, the cell is empty; {}", source, line,
       empty == 1 ? fmt::format("data.skip_lines = {} leaves the line out", line)
                  : fmt::format("so are {} others: the cells of merged rows need their date in each row",
                                empty - 1));
}

/// Requires dates that are not empty and increase (or do not decrease, with `equal_too`).
void require_rising(std::span<const int64_t> dates, const LineOf& line_of, const io::DateStyle& style,
                    const std::string& source, bool equal_too) {
  for (size_t i = 0; i < dates.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    if (dates[i] == io::kMissingDate) fail_empty_date(dates, i, line_of, source);
    if (i == 0 || dates[i] > dates[i - 1]) continue;
    const bool equal = dates[i] == dates[i - 1];
    if (equal && equal_too) continue;
    fail(ErrorKind::data, "{}:{}: dates must increase, but {} {} the date of line {}, {}{}{}", source,
         line_of(row), io::format_date_time(dates[i], style), equal ? "equals" : "comes before",
         line_of(row - 1), io::format_date_time(dates[i - 1], style),
         equal && style.fraction_digits > 0 ? " (fractions of a second are not kept)" : "",
         equal ? remedy_of_repeats(dates, style) : remedy(kDay, 0));
  }
}

/// Sets monthly steps on the first or last business days of months: all dates are from Monday to Friday, most
/// on that day and the others at most three days within the month, where that day is a holiday.
bool set_business_months(std::span<const int64_t> dates, TimeAxis& axis) {
  if (dates.size() < 3) return false;
  for (const int64_t month_day : {1, 31}) {
    size_t exact = 0, near = 0;
    int64_t before = INT64_MIN;
    for (const int64_t date : dates) {
      const io::CivilTime time = io::to_civil(date);
      const int64_t index = month_index(time), clock = clock_of(time);
      const int64_t wanted = to_business_day(in_month(index, month_day, clock), month_day);
      const int64_t inside = month_day == 1 ? date - wanted : wanted - date;
      if (on_weekend(date) || inside < 0 || inside > 3 * kDay || index <= before ||
          clock != clock_of(io::to_civil(dates[0])))
        break;
      exact += inside == 0;
      ++near;
      before = index;
    }
    if (near < dates.size() || 3 * exact < 2 * dates.size()) continue;
    axis.month_day = month_day;
    axis.business = true;
    return true;
  }
  return false;
}

/// Times of the week of the dates, ascending.
std::vector<int64_t> times_of_week(std::span<const int64_t> dates) {
  std::vector<int64_t> times;
  for (const int64_t date : dates) {
    const int64_t time = date - monday_of(date);
    if (const auto at = std::lower_bound(times.begin(), times.end(), time); at == times.end() || *at != time)
      times.insert(at, time);
    if (times.size() > 7 * 24 * 60) return {};
  }
  return times;
}

/// The same times on each day from Monday to Friday.
bool is_business_week(const std::vector<int64_t>& week) {
  if (week.empty() || week.back() >= 5 * kDay || week.size() % 5 != 0) return false;
  const size_t day = week.size() / 5;
  for (size_t i = 0; i < week.size(); ++i)
    if (week[i] / kDay != static_cast<int64_t>(i / day) || week[i] % kDay != week[i % day]) return false;
  return true;
}

std::string clock_text(int64_t seconds) {
  return fmt::format("{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
}

/// "Monday to Friday", "Monday to Friday from 09:30 to 15:30", "35 times of the week".
std::string week_text(const std::vector<int64_t>& week, bool clocks) {
  static constexpr std::array<const char*, 7> names = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                       "Friday", "Saturday", "Sunday"};
  std::vector<int64_t> days;
  for (const int64_t time : week)
    if (days.empty() || days.back() != time / kDay) days.push_back(time / kDay);
  const size_t each = week.size() / days.size();
  for (size_t i = 0; i < week.size(); ++i)
    if (week.size() % days.size() != 0 || week[i] % kDay != week[i % each] % kDay ||
        week[i] / kDay != days[i / each])
      return fmt::format("{} times of the week", week.size());
  std::string text;
  if (days.size() > 2 && days.back() - days.front() + 1 == std::ssize(days)) {
    text = fmt::format("{} to {}", names[static_cast<size_t>(days.front())],
                       names[static_cast<size_t>(days.back())]);
  } else {
    for (const int64_t day : days)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", names[static_cast<size_t>(day)]);
  }
  if (clocks)
    text += fmt::format(" from {} to {}", clock_text(week.front() % kDay), clock_text(week.back() % kDay));
  return text;
}

/// Rows of the dates on a weekly calendar; sets week, length and a note. Data error for a date outside it.
void lay_on_week(std::span<const int64_t> dates, std::vector<int64_t> week, const LineOf& line_of,
                 const std::string& source, const Calendar& calendar, DatedRows& result) {
  TimeAxis& axis = result.axis;
  axis.week = std::move(week);
  const std::string days = week_text(axis.week, axis.step < kDay);
  result.rows.clear();
  for (size_t i = 0; i < dates.size(); ++i) {
    const int64_t time = dates[i] - monday_of(dates[i]);
    require(
        std::binary_search(axis.week.begin(), axis.week.end(), time), ErrorKind::data,
        "{}:{}: {} is outside the calendar of the rows, {}; data.calendar_days = all makes every step a row",
        source, line_of(static_cast<int64_t>(i)), io::format_date_time(dates[i], axis.style), days);
    result.rows.push_back(axis.row_of(dates[i]));
  }
  axis.length = result.rows.back() + 1;
  int64_t filled = 0;
  for (size_t i = 0; i < result.rows.size(); ++i) filled += i == 0 || result.rows[i] != result.rows[i - 1];
  result.missing_rows = axis.length - filled;
  require(
      result.missing_rows <= filled, ErrorKind::data,
      "{}: on the calendar {} the dates from {} to {} span {} rows, but the file has only {}: more than half "
      "would be missing",
      source, days, io::format_date_time(dates.front(), axis.style),
      io::format_date_time(dates.back(), axis.style), axis.length, filled);
  result.notes.push_back(fmt::format(
      "the calendar of the rows is {}{}{}", days,
      result.missing_rows == 0 ? ""
                               : fmt::format("; {} of its rows {} filled as missing", result.missing_rows,
                                             result.missing_rows == 1 ? "is" : "are"),
      calendar.days == "auto" ? "; data.calendar_days = all makes every step a row" : ""));
}

}  // namespace

std::string step_text(int64_t seconds, int64_t months) {
  if (months != 0) {
    if (months % 12 == 0) return fmt::format("{} year{}", months / 12, months == 12 ? "" : "s");
    return fmt::format("{} month{}", months, months == 1 ? "" : "s");
  }
  for (const auto& [size, unit] : {std::pair{kDay, "d"}, {int64_t{3600}, "h"}, {int64_t{60}, "min"}})
    if (seconds % size == 0) return fmt::format("{} {}", seconds / size, unit);
  return fmt::format("{} s", seconds);
}

void Differences::add(std::span<const int64_t> positions) {
  for (size_t row = 1; row < positions.size(); ++row)
    if (positions[row] > positions[row - 1]) {
      ++counts_[positions[row] - positions[row - 1]];
      ++all_;
    }
}

int64_t Differences::commonest() const {
  Commonest best;
  for (const auto& [step, count] : counts_)
    if (count > best.count || (count == best.count && step < best.step)) best = {step, count};
  return best.step;
}

int64_t Differences::count(int64_t step) const {
  const auto at = counts_.find(step);
  return at == counts_.end() ? 0 : at->second;
}

std::vector<int64_t> date_positions(std::span<const int64_t> dates, TimeAxis& axis) {
  axis.month_day = shared_month_day(dates);
  if (axis.month_day == 0) set_business_months(dates, axis);
  std::vector<int64_t> positions(dates.begin(), dates.end());
  if (axis.month_day != 0)
    for (int64_t& position : positions) position = month_number(position);
  return positions;
}

void require_dates(std::span<const int64_t> dates, const LineOf& line_of, const std::string& source) {
  for (size_t row = 0; row < dates.size(); ++row)
    if (dates[row] == io::kMissingDate) fail_empty_date(dates, row, line_of, source);
}

int64_t month_number(int64_t seconds) {
  return month_index(io::to_civil(seconds));
}

int64_t seconds_in_month(int64_t month_number, int64_t month_day) {
  return in_month(month_number, month_day, 0);
}

std::vector<int64_t> week_of(std::span<const int64_t> dates, int64_t step, const Calendar& calendar) {
  if (!calendar.week.empty()) return calendar.week;
  if (calendar.days == "all" || step >= kWeek) return {};
  std::vector<int64_t> week = times_of_week(dates);
  if (week.empty() || calendar.days == "observed") return week;
  if (calendar.days == "business") {
    std::vector<int64_t> clocks;
    for (const int64_t time : week)
      if (std::find(clocks.begin(), clocks.end(), time % kDay) == clocks.end()) clocks.push_back(time % kDay);
    std::sort(clocks.begin(), clocks.end());
    week.clear();
    for (int64_t day = 0; day < 5; ++day)
      for (const int64_t clock : clocks) week.push_back(day * kDay + clock);
    return week;
  }
  const int64_t weeks = (dates.back() - dates.front()) / kWeek, steps = kWeek / step;
  if (weeks < 2 || std::ssize(week) >= steps) return {};
  TimeAxis axis;
  axis.dated = true;
  axis.start = dates.front();
  axis.week = week;
  const double filled =
      static_cast<double>(dates.size()) / static_cast<double>(axis.row_of(dates.back()) + 1);
  if (is_business_week(week)) return filled >= 0.5 ? week : std::vector<int64_t>();
  // The expected number of times of the week that chance leaves out in all weeks.
  const double by_chance = static_cast<double>(steps) * std::pow(1 - filled, static_cast<double>(weeks));
  return weeks >= 4 && by_chance < 0.01 ? week : std::vector<int64_t>();
}

int64_t TimeAxis::at(int64_t row) const {
  return at(row, {start, month_day, business});
}

int64_t TimeAxis::at(int64_t row, const SeriesPhase& phase) const {
  if (!dated) return phase.start + row * (step == 0 ? 1 : step);
  if (months != 0) {
    const io::CivilTime first = io::to_civil(phase.start);
    const int64_t date = in_month(month_index(first) + row * months,
                                  phase.month_day != 0 ? phase.month_day : first.day, clock_of(first));
    return phase.business ? to_business_day(date, phase.month_day) : date;
  }
  int64_t seconds = phase.start + row * step;
  if (!week.empty()) {
    const int64_t monday = monday_of(phase.start), count = std::ssize(week);
    const int64_t at = std::lower_bound(week.begin(), week.end(), phase.start - monday) - week.begin() + row;
    const int64_t weeks = floor_divide(at, count);
    seconds = monday + weeks * kWeek + week[static_cast<size_t>(at - weeks * count)];
  }
  int64_t shift = 0;
  for (const ClockChange& change : clock_changes)
    if (seconds >= change.from) shift = change.shift;
  return seconds + shift;
}

int64_t TimeAxis::row_of(int64_t seconds) const {
  require(has_times(), ErrorKind::data, "a row by date was requested, but the series has no dates");
  if (months != 0)
    return -floor_divide(month_index(io::to_civil(start)) - month_index(io::to_civil(seconds)), months);
  if (week.empty()) return step == 0 ? 0 : -floor_divide(start - seconds, step);
  const auto place = [&](int64_t time) {
    const int64_t monday = monday_of(time);
    return (monday - kFirstMonday) / kWeek * std::ssize(week) +
           (std::lower_bound(week.begin(), week.end(), time - monday) - week.begin());
  };
  return place(seconds) - place(start);
}

std::string TimeAxis::text_at(int64_t row) const {
  return dated ? io::format_date_time(at(row), style) : fmt::format("{}", at(row));
}

int64_t TimeAxis::first_row_at(int64_t seconds) const {
  require(has_times(), ErrorKind::data, "a row by date was requested, but the series has no dates");
  // Between two changes the clock increases.
  int64_t low = 0;
  for (size_t change = 0; change <= clock_changes.size(); ++change) {
    const int64_t end = change == clock_changes.size()
                            ? length
                            : std::clamp<int64_t>(row_of(clock_changes[change].from), low, length);
    int64_t high = end;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (at(middle) < seconds)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < end) break;
  }
  return low;
}

std::string TimeAxis::frequency_text() const {
  if (!dated) return step == 0 ? "rows" : fmt::format("{}", step);
  const std::string text = step_text(step, months);
  if (business) return fmt::format("{} ({} business day)", text, month_day == 1 ? "first" : "last");
  if (week.empty()) return text;
  if (step == kDay && is_business_week(week)) return "1 business day";
  return fmt::format("{}, {}", text, week_text(week, step < kDay));
}

DatedRows lay_out_dates(std::span<const int64_t> dates, const LineOf& line_of, const io::DateStyle& style,
                        const std::string& source, const Calendar& calendar) {
  require(dates.size() >= 2, ErrorKind::data, "{}: expected at least 2 dated rows, got {}", source,
          dates.size());
  require_rising(dates, line_of, style, source, false);

  DatedRows result;
  TimeAxis& axis = result.axis;
  axis.dated = true;
  axis.start = dates[0];
  axis.style = style;
  std::vector<int64_t> positions = date_positions(dates, axis);
  const Commonest common = commonest_difference(positions, calendar.step);
  (axis.month_day != 0 ? axis.months : axis.step) = common.step;
  // A file whose steps are all equal is on every step, whatever the weekdays.
  const bool gaps = common.count + 1 < std::ssize(dates);
  if (axis.month_day == 0 && (gaps || calendar.days == "business" || !calendar.week.empty())) {
    if (std::vector<int64_t> week = week_of(dates, common.step, calendar); !week.empty()) {
      lay_on_week(dates, std::move(week), line_of, source, calendar, result);
      return result;
    }
  }
  for (size_t i = 1; i < positions.size(); ++i) {
    if ((positions[i] - positions[i - 1]) % common.step == 0) continue;
    const auto row = static_cast<int64_t>(i);
    fail(ErrorKind::data,
         "{}:{}: expected dates at a constant step (gaps allowed); the most common step is {} ({} of {}), "
         "but {} and {} (lines {} and {}) are {} apart{}",
         source, line_of(row), axis.frequency_text(), common.count, positions.size() - 1,
         io::format_date_time(dates[i - 1], style), io::format_date_time(dates[i], style), line_of(row - 1),
         line_of(row), step_text(dates[i] - dates[i - 1], 0), remedy(axis.step, axis.months));
  }
  axis.length = (positions.back() - positions.front()) / common.step + 1;
  const auto rows = static_cast<int64_t>(dates.size());
  result.missing_rows = axis.length - rows;
  if (result.missing_rows == 0) return result;

  require(calendar.sparse || result.missing_rows <= rows, ErrorKind::data,
          "{}: at the most common step of {} the dates from {} to {} span {} rows, but the file has only {}: "
          "more than half would be missing{}",
          source, axis.frequency_text(), io::format_date_time(dates.front(), style),
          io::format_date_time(dates.back(), style), axis.length, rows,
          fmt::format("; data.resample pools dates to a longer step, {}", kRowsRemedy));
  result.notes.push_back(gap_note(dates, positions, common.step, result.missing_rows, style));
  result.rows = std::move(positions);
  const int64_t first = result.rows.front();
  for (int64_t& position : result.rows) position = (position - first) / common.step;
  return result;
}

DatedRows space_rows_equally(std::span<const int64_t> dates, const LineOf& line_of,
                             const io::DateStyle& style, const std::string& source) {
  require_dates(dates, line_of, source);
  DatedRows result;
  TimeAxis& axis = result.axis;
  axis.dated = true;
  axis.style = style;
  axis.length = static_cast<int64_t>(dates.size());
  const std::vector<int64_t> positions = date_positions(dates, axis);
  const Commonest common = commonest_difference(positions);
  require(common.count > 0, ErrorKind::data, "{}: expected at least 2 rows with increasing dates, got none",
          source);
  // The last row keeps its date, so that forecasts continue from it.
  axis.start = dates.back();
  (axis.month_day != 0 ? axis.months : axis.step) = common.step;
  axis.start = axis.at(1 - axis.length);
  int64_t differ = 0, first = 0;
  for (size_t i = positions.size() - 1; i > 0; --i)
    if (positions[i] - positions[i - 1] != common.step) {
      ++differ;
      first = static_cast<int64_t>(i);
    }
  if (differ > 0)
    result.notes.push_back(fmt::format(
        "the rows are read as {} apart up to {}, although {} of {} differ, first in line {}",
        axis.frequency_text(), axis.text_at(axis.length - 1), differ, axis.length - 1, line_of(first)));
  return result;
}

DatedRows pool_dates(std::span<const int64_t> dates, Step step, const LineOf& line_of,
                     const io::DateStyle& style, const std::string& source, const Calendar& calendar) {
  require_rising(dates, line_of, style, source, true);
  const std::string wanted = step_text(step.seconds, step.months);
  const int64_t usual = median_difference(dates);
  require(step.months > 0 ? 31 * kDay * step.months >= usual : step.seconds >= usual, ErrorKind::data,
          "{}: data.resample = {} is shorter than the step of the rows: half of them or more are {} apart or "
          "farther",
          source, wanted, step_text(usual, 0));
  const auto number_of = [&](int64_t date) {
    return step.months > 0 ? floor_divide(month_index(io::to_civil(date)), step.months)
                           : floor_divide(date - first_step(step), step.seconds);
  };
  DatedRows result;
  TimeAxis& axis = result.axis;
  axis.dated = true;
  axis.step = step.seconds;
  axis.months = step.months;
  axis.month_day = step.months > 0 ? 1 : 0;
  axis.style = style;
  const int64_t first = number_of(dates.front());
  axis.start =
      step.months > 0 ? in_month(first * step.months, 1, 0) : first * step.seconds + first_step(step);
  axis.length = number_of(dates.back()) - first + 1;
  result.rows.reserve(dates.size());
  int64_t filled = 0;
  for (const int64_t date : dates) {
    const int64_t row = number_of(date) - first;
    filled += result.rows.empty() || row > result.rows.back();
    result.rows.push_back(row);
  }
  result.missing_rows = axis.length - filled;
  if (result.missing_rows > 0 && step.months == 0) {
    std::vector<int64_t> starts;
    for (const int64_t row : result.rows) starts.push_back(axis.start + row * axis.step);
    std::vector<int64_t> distinct = starts;
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (std::vector<int64_t> week = week_of(distinct, step.seconds, calendar); !week.empty())
      lay_on_week(starts, std::move(week), line_of, source, calendar, result);
  }
  require(result.missing_rows <= filled, ErrorKind::data,
          "{}: the dates from {} to {} make {} steps of data.resample = {}, but no row falls in {} of them: "
          "a longer step has fewer empty ones",
          source, io::format_date_time(dates.front(), style), io::format_date_time(dates.back(), style),
          axis.length, wanted, result.missing_rows);
  result.notes.push_back(
      fmt::format("{} {} resampled to {} of {}{}", counted(dates.size(), "date"), is_or_are(dates.size()),
                  counted(axis.length, "step"), wanted,
                  result.missing_rows == 0 ? "" : fmt::format(", {} of them missing", result.missing_rows)));
  return result;
}

Step parse_step(const std::string& text, const std::string& option) {
  size_t end = text.find_first_not_of("0123456789");
  int64_t count = 1;
  if (end == std::string::npos) end = text.size();
  bool valid = end < text.size();
  if (end > 0) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + end, count);
    valid = valid && error == std::errc() && count >= 1 && count <= 1'000'000;
  }
  std::string unit;
  for (const char c : text.substr(end))
    if (c != ' ') unit += io::to_lower(c);
  if (unit.size() > 2 && unit.ends_with('s')) unit.pop_back();
  if (valid) {
    for (const auto& [name, seconds] :
         std::initializer_list<std::pair<const char*, int64_t>>{{"s", 1},
                                                                {"sec", 1},
                                                                {"second", 1},
                                                                {"min", 60},
                                                                {"minute", 60},
                                                                {"h", 3600},
                                                                {"hour", 3600},
                                                                {"d", kDay},
                                                                {"day", kDay},
                                                                {"w", 7 * kDay},
                                                                {"week", 7 * kDay}})
      if (unit == name) return {count * seconds, 0};
    for (const auto& [name, months] :
         std::initializer_list<std::pair<const char*, int64_t>>{{"month", 1}, {"quarter", 3}, {"year", 12}})
      if (unit == name) return {0, count * months};
  }
  fail(ErrorKind::config, "{}: expected a number and a unit (s, min, h, day, week, month, year), got '{}'",
       option, text);
}

}  // namespace modewise::data
