#include "modewise/data/forecasting/tables/clock_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "modewise/io/tables/time_names.h"

namespace modewise::data {
namespace {

constexpr int64_t kDay = io::kSecondsOfDay, kHour = 3600, kLastClock = 235959;  // hhmmss

struct Numbers {
  std::vector<int64_t> values;  // kMissingDate: missing
  int64_t low = std::numeric_limits<int64_t>::max(), high = 0;
  bool padded = true;  // texts of equal length

  void add(int64_t value) {
    values.push_back(value);
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

std::optional<Numbers> whole_numbers(const io::CsvColumn& column) {
  Numbers result;
  result.padded = false;
  for (const double x : column.numbers) {
    if (std::isnan(x))
      result.values.push_back(io::kMissingDate);
    else if (x == std::floor(x) && x >= 0 && x <= kLastClock)
      result.add(static_cast<int64_t>(x));
    else
      return std::nullopt;
  }
  if (result.high < result.low) return std::nullopt;
  return result;
}

/// Texts such as 01, 02X, where a letter marks the repeated hour, or HE01, H01 and Hour 1.
std::optional<Numbers> marked_numbers(const io::CsvColumn& column) {
  Numbers result;
  size_t width = 0;
  for (std::string_view text : column.texts) {
    if (text.empty()) {
      result.values.push_back(io::kMissingDate);
      continue;
    }
    for (const std::string_view letters : {"HE", "H", "Hour ", "Hour"})
      if (text.starts_with(letters)) {
        text.remove_prefix(letters.size());
        break;
      }
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits < 1 || digits > 2 || text.size() > digits + 1) return std::nullopt;
    if (width != 0 && digits != width) result.padded = false;
    width = digits;
    result.add(digits == 1 ? text[0] - '0' : (text[0] - '0') * 10 + text[1] - '0');
  }
  if (result.high < result.low) return std::nullopt;
  return result;
}

ClockColumn units_of_day(const Numbers& numbers, int64_t unit, int64_t first, const std::string& meaning) {
  ClockColumn clock;
  clock.cell.unit = unit;
  clock.cell.first = first;
  clock.cell.style.padded = numbers.padded;
  clock.meaning = meaning;
  for (const int64_t value : numbers.values)
    clock.seconds.push_back(value == io::kMissingDate ? value : (value - first) * unit);
  return clock;
}

ClockColumn hhmm(const Numbers& numbers) {
  ClockColumn clock;
  clock.cell.style.pattern = "%H%M";
  clock.meaning = "hhmm";
  for (const int64_t value : numbers.values)
    clock.seconds.push_back(value == io::kMissingDate ? value : value / 100 * kHour + value % 100 * 60);
  return clock;
}

ClockColumn hhmmss(const Numbers& numbers) {
  ClockColumn clock;
  clock.cell.style.pattern = "%H%M%S";
  clock.meaning = "hhmmss";
  clock.seconds_shown = true;
  for (const int64_t value : numbers.values)
    clock.seconds.push_back(
        value == io::kMissingDate ? value : value / 10000 * kHour + value / 100 % 100 * 60 + value % 100);
  return clock;
}

bool says_ending(const io::CsvColumn& column) {
  const std::vector<std::string> words = io::name_words(column.name);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "end" || word == "ending" || word == "he" || word == "hourending" || word == "hourend";
  });
}

std::optional<ClockColumn> read_numbers(const io::CsvColumn& column, const Numbers& numbers) {
  const auto& [values, low, high, padded] = numbers;
  if (io::names_clock(column.name)) {
    if (low >= 1 && high <= 25 && (high >= 24 || says_ending(column)))
      return units_of_day(numbers, kHour, 1, "hours 1 to 24, which end at their number: 1 is 00:00 to 01:00");
    if (high <= 23) return units_of_day(numbers, kHour, 0, "hours");
    if (high <= 2400 && high >= 100 && std::all_of(values.begin(), values.end(), [](int64_t value) {
          return value == io::kMissingDate || value % 100 < 60;
        }))
      return hhmm(numbers);
    if (high > 2400 && std::all_of(values.begin(), values.end(), [](int64_t value) {
          return value == io::kMissingDate ||
                 (value <= kLastClock && value % 100 < 60 && value / 100 % 100 < 60);
        }))
      return hhmmss(numbers);
  }
  if (!io::names_day_parts(column.name)) return std::nullopt;
  for (const int64_t count : {24, 48, 96, 288, 1440})
    for (const int64_t first : {0, 1})
      if (low == first && (high == count - 1 + first ||
                           // a day of 25 hours
                           (count < 288 && high == count + count / 24 - 1 + first)))
        return units_of_day(numbers, kDay / count, first,
                            fmt::format("{} to {} of {} min", first, count - 1 + first, kDay / count / 60));
  return std::nullopt;
}

/// The clock style of a column as a pattern: %H:%M:%S.
std::string clock_pattern(const io::DateStyle& style) {
  std::string pattern = style.padded_hour ? "%" : "%-";
  pattern += style.twelve_hours ? "I" : "H";
  if (style.clock >= io::DateStyle::minutes) pattern += style.clock_mark + std::string("%M");
  if (style.clock >= io::DateStyle::seconds) pattern += style.clock_mark + std::string("%S");
  if (style.fraction_digits > 0) pattern += style.fraction_mark + std::string("%f");
  if (style.twelve_hours) pattern += style.half_day_space ? " %p" : "%p";
  return pattern;
}

std::optional<ClockColumn> read_clocks(const io::CsvColumn& column) {
  ClockColumn clock;
  io::DateStyle style;
  bool any = false;
  for (const std::string_view text : column.texts) {
    if (text.empty()) {
      clock.seconds.push_back(io::kMissingDate);
      continue;
    }
    const auto read = io::read_clock(text);
    if (!read) return std::nullopt;
    clock.seconds.push_back(read->seconds);
    const io::DateStyle before = style;
    if (!any || read->style.clock > style.clock) style = read->style;
    if (any) {
      style.padded_hour = before.padded_hour && read->style.padded_hour;
      style.midnight_24 = before.midnight_24 || read->style.midnight_24;
    }
    any = true;
  }
  if (!any) return std::nullopt;
  style.pattern = clock_pattern(style);
  clock.seconds_shown = style.clock == io::DateStyle::seconds;
  clock.cell.style = std::move(style);
  return clock;
}

}  // namespace

std::optional<ClockColumn> read_clock_column(const io::CsvColumn& column) {
  if (column.kind == io::CsvColumn::number) {
    const auto numbers = whole_numbers(column);
    return numbers ? read_numbers(column, *numbers) : std::nullopt;
  }
  if (column.kind != io::CsvColumn::text) return std::nullopt;
  if (auto clock = read_clocks(column)) return clock;
  if (!io::names_hours(column.name)) return std::nullopt;
  const auto numbers = marked_numbers(column);
  return numbers ? read_numbers(column, *numbers) : std::nullopt;
}

}  // namespace modewise::data
