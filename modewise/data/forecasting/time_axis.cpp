#include "modewise/data/forecasting/time_axis.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <unordered_map>

#include "modewise/core/error.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {
namespace {

constexpr int64_t kDay = 86400;
constexpr const char* kRemedy = "; data.dates = \"rows\" reads the rows as equally spaced";

int64_t month_index(const io::CivilTime& time) {
  return time.year * 12 + time.month - 1;
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

std::string step_text(int64_t seconds, int64_t months) {
  if (months != 0) {
    if (months % 12 == 0) return fmt::format("{} year{}", months / 12, months == 12 ? "" : "s");
    return fmt::format("{} month{}", months, months == 1 ? "" : "s");
  }
  for (const auto& [size, unit] : {std::pair{kDay, "d"}, {int64_t{3600}, "h"}, {int64_t{60}, "min"}})
    if (seconds % size == 0) return fmt::format("{} {}", seconds / size, unit);
  return fmt::format("{} s", seconds);
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
Commonest commonest_difference(std::span<const int64_t> positions) {
  std::unordered_map<int64_t, int64_t> counts;
  for (size_t row = 1; row < positions.size(); ++row)
    if (positions[row] > positions[row - 1]) ++counts[positions[row] - positions[row - 1]];
  Commonest best;
  for (const auto& [step, count] : counts)
    if (count > best.count || (count == best.count && step < best.step)) best = {step, count};
  return best;
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

int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
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

/// Requires dates that are not empty and increase (or do not decrease, with `equal_too`).
void require_rising(std::span<const int64_t> dates, const LineOf& line_of, const io::DateStyle& style,
                    const std::string& source, bool equal_too) {
  for (size_t i = 0; i < dates.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    if (dates[i] == io::kMissingDate)
      fail(ErrorKind::data, "{}:{}: expected a date, the cell is empty", source, line_of(row));
    if (i == 0 || dates[i] > dates[i - 1]) continue;
    const bool equal = dates[i] == dates[i - 1];
    if (equal && equal_too) continue;
    fail(ErrorKind::data, "{}:{}: dates must increase, but {} {} the date of line {}, {}{}{}", source,
         line_of(row), io::format_date_time(dates[i], style), equal ? "equals" : "comes before",
         line_of(row - 1), io::format_date_time(dates[i - 1], style),
         equal && style.fraction_digits > 0 ? " (fractions of a second are not kept)" : "", kRemedy);
  }
}

/// Dates as numbers: seconds, or months if the dates are monthly (axis.month_day is set).
std::vector<int64_t> positions_of(std::span<const int64_t> dates, TimeAxis& axis) {
  axis.month_day = shared_month_day(dates);
  std::vector<int64_t> positions(dates.begin(), dates.end());
  if (axis.month_day != 0)
    for (int64_t& position : positions) position = month_index(io::to_civil(position));
  return positions;
}

}  // namespace

int64_t TimeAxis::at(int64_t row) const {
  if (!dated) return row;
  if (months == 0) return start + row * step;
  const io::CivilTime first = io::to_civil(start);
  return in_month(month_index(first) + row * months, month_day != 0 ? month_day : first.day, clock_of(first));
}

std::string TimeAxis::text_at(int64_t row) const {
  return dated ? io::format_date_time(at(row), style) : fmt::format("{}", row);
}

int64_t TimeAxis::first_row_at(int64_t seconds) const {
  require(dated, ErrorKind::data, "a row by date was requested, but the series has no dates");
  int64_t low = 0, high = length;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (at(middle) < seconds)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

std::string TimeAxis::frequency_text() const {
  return dated ? step_text(step, months) : "rows";
}

DatedRows lay_out_dates(std::span<const int64_t> dates, const LineOf& line_of, const io::DateStyle& style,
                        const std::string& source) {
  require(dates.size() >= 2, ErrorKind::data, "{}: expected at least 2 dated rows, got {}", source,
          dates.size());
  require_rising(dates, line_of, style, source, false);

  DatedRows result;
  TimeAxis& axis = result.axis;
  axis.dated = true;
  axis.start = dates[0];
  axis.style = style;
  std::vector<int64_t> positions = positions_of(dates, axis);
  const Commonest common = commonest_difference(positions);
  (axis.month_day != 0 ? axis.months : axis.step) = common.step;
  for (size_t i = 1; i < positions.size(); ++i) {
    if ((positions[i] - positions[i - 1]) % common.step == 0) continue;
    const auto row = static_cast<int64_t>(i);
    fail(ErrorKind::data,
         "{}:{}: expected dates at a constant step (gaps allowed); the most common step is {} ({} of {}), "
         "but {} and {} (lines {} and {}) are {} apart{}",
         source, line_of(row), axis.frequency_text(), common.count, positions.size() - 1,
         io::format_date_time(dates[i - 1], style), io::format_date_time(dates[i], style), line_of(row - 1),
         line_of(row), step_text(dates[i] - dates[i - 1], 0), kRemedy);
  }
  axis.length = (positions.back() - positions.front()) / common.step + 1;
  const auto rows = static_cast<int64_t>(dates.size());
  result.missing_rows = axis.length - rows;
  if (result.missing_rows == 0) return result;

  require(result.missing_rows <= rows, ErrorKind::data,
          "{}: at the most common step of {} the dates from {} to {} span {} rows, but the file has only {}: "
          "more than half would be missing{}",
          source, axis.frequency_text(), io::format_date_time(dates.front(), style),
          io::format_date_time(dates.back(), style), axis.length, rows, kRemedy);
  result.notes.push_back(gap_note(dates, positions, common.step, result.missing_rows, style));
  result.rows = std::move(positions);
  const int64_t first = result.rows.front();
  for (int64_t& position : result.rows) position = (position - first) / common.step;
  return result;
}

DatedRows space_rows_equally(std::span<const int64_t> dates, const LineOf& line_of,
                             const io::DateStyle& style, const std::string& source) {
  for (size_t i = 0; i < dates.size(); ++i)
    if (dates[i] == io::kMissingDate)
      fail(ErrorKind::data, "{}:{}: expected a date, the cell is empty", source,
           line_of(static_cast<int64_t>(i)));
  DatedRows result;
  TimeAxis& axis = result.axis;
  axis.dated = true;
  axis.style = style;
  axis.length = static_cast<int64_t>(dates.size());
  const std::vector<int64_t> positions = positions_of(dates, axis);
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
                     const io::DateStyle& style, const std::string& source) {
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
  require(result.missing_rows <= filled, ErrorKind::data,
          "{}: the dates from {} to {} make {} steps of data.resample = {}, but no row falls in {} of them: "
          "a longer step has fewer empty ones",
          source, io::format_date_time(dates.front(), style), io::format_date_time(dates.back(), style),
          axis.length, wanted, result.missing_rows);
  result.notes.push_back(
      fmt::format("{} dates are resampled to {} steps of {}{}", dates.size(), axis.length, wanted,
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
    if (c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
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
