#include "modewise/io/tables/date_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "modewise/io/tables/date_scanner.h"

namespace modewise::io {
namespace {

constexpr std::string_view kCodes = "YymdHIMSfpbBaAjqoGVuhz%";
constexpr std::string_view kClockCodes = "HIMSph";

/// Calls `literal(c)` or `code(c, padded)` for each element of a pattern until one returns false.
template <class Literal, class Code>
bool each_element(std::string_view pattern, const Literal& literal, const Code& code) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      if (!literal(pattern[i])) return false;
      continue;
    }
    const bool padded = pattern[++i] != '-';
    if (!padded && i + 1 < pattern.size()) ++i;
    if (pattern[i] == '%' ? !literal('%') : !code(pattern[i], padded)) return false;
  }
  return true;
}

/// Numbers of a pattern that are not fields of a civil time.
struct Fields {
  int quarter = 0, half = 0, day_of_year = 0, week = 0, weekday = 1;
  bool has_year = false;
  bool hour_ends = false;
};

class PatternReader {
 public:
  PatternReader(std::string_view text, std::string_view pattern) : scanner_(text), pattern_(pattern) {
    date_.style.clock = DateStyle::no_clock;
  }

  std::optional<WrittenDate> read(std::string_view& text) {
    const bool fits = each_element(
        pattern_, [&](char c) { return literal(c); }, [&](char code, bool) { return take(code); });
    if (!fits || !resolve()) return std::nullopt;
    date_.style.pattern = pattern_;
    date_.style.has_day = pattern_has(pattern_, "djVG");
    text = scanner_.rest();
    return std::move(date_);
  }

 private:
  bool literal(char c) { return c == ' ' ? scanner_.take_spaces() : scanner_.take(c); }

  bool take_number(int& value, size_t min_digits, size_t max_digits, int low, int high, bool pads) {
    const size_t digits = std::min(scanner_.digits_ahead(), max_digits);
    if (digits < min_digits) return false;
    if (pads && digits < max_digits) date_.style.padded = false;
    value = scanner_.number(digits);
    return value >= low && value <= high;
  }

  bool take_clock(int& value, DateStyle::Clock clock, int low, int high) {
    date_.style.clock = std::max(date_.style.clock, clock);
    if (clock == DateStyle::hours) date_.style.padded_hour = scanner_.digits_ahead() != 1;
    return take_number(value, 1, 2, low, high, false);
  }

  bool take(char code) {
    CivilTime& time = date_.time;
    DateStyle& style = date_.style;
    int value = 0;
    switch (code) {
      case 'Y':
      case 'G':
        if (!take_number(value, 4, 4, 0, 9999, false)) return false;
        if (std::exchange(fields_.has_year, true)) return value == time.year + 1;
        time.year = value;
        return true;
      case 'y':
        if (!take_number(value, 2, 2, 0, 99, false)) return false;
        if (std::exchange(fields_.has_year, true)) return value == (time.year + 1) % 100;
        style.short_year = true;
        time.year = year_of_two_digits(value);
        return true;
      case 'm':
        return take_number(time.month, 1, 2, 1, 12, true);
      case 'd':
        return take_number(time.day, 1, 2, 1, 31, true);
      case 'j':
        return take_number(fields_.day_of_year, 3, 3, 1, 366, false);
      case 'q':
        return take_number(fields_.quarter, 1, 1, 1, 4, false);
      case 'o':
        return take_number(fields_.half, 1, 1, 1, 2, false);
      case 'V':
        return take_number(fields_.week, 1, 2, 1, 53, true);
      case 'u':
        return take_number(fields_.weekday, 1, 1, 1, 7, false);
      case 'H':
        return take_clock(time.hour, DateStyle::hours, 0, 24);
      case 'I':
        return take_clock(time.hour, DateStyle::hours, 1, 12);
      case 'h':
        fields_.hour_ends = true;
        return take_clock(time.hour, DateStyle::hours, 1, 24);
      case 'M':
        return take_clock(time.minute, DateStyle::minutes, 0, 59);
      case 'S':
        return take_clock(time.second, DateStyle::seconds, 0, 59);
      case 'f': {
        const size_t digits = scanner_.digits_ahead();
        style.fraction_digits = static_cast<int>(std::min<size_t>(digits, 9));
        scanner_.skip(digits);
        return digits > 0;
      }
      case 'p':
        return scan_half_day(scanner_, date_) && style.twelve_hours;
      case 'b':
      case 'B':
        return scan_month(scanner_, time.month, style);
      case 'a':
      case 'A': {
        DateStyle weekday;
        if (!scan_weekday(scanner_, weekday)) return false;
        style.weekday = weekday.weekday;
        if (style.month == DateStyle::number) {
          style.languages = weekday.languages;
          style.letters = weekday.letters;
        }
        return true;
      }
      case 'z':
        return scan_zone(scanner_, style) && style.has_offset;
      default:
        return false;
    }
  }

  /// Derives the date from half, quarter, week or day of the year, and checks it.
  bool resolve() {
    CivilTime& time = date_.time;
    if (fields_.quarter > 0) time.month = 3 * fields_.quarter - 2;
    if (fields_.half > 0) time.month = 6 * fields_.half - 5;
    if (fields_.day_of_year > 0) {
      const int64_t start = to_seconds({time.year, 1, 1});
      const CivilTime day = to_civil(start + int64_t{fields_.day_of_year - 1} * kSecondsOfDay);
      if (day.year != time.year) return false;
      time.month = day.month;
      time.day = day.day;
    }
    if (fields_.week > 0) {
      // Week 1 holds January 4.
      const int64_t fourth = to_seconds({time.year, 1, 4});
      const int64_t monday = fourth - int64_t{weekday_of(fourth) - 1} * kSecondsOfDay +
                             int64_t{fields_.week - 1} * 7 * kSecondsOfDay;
      const CivilTime thursday = to_civil(monday + int64_t{3} * kSecondsOfDay);
      if (thursday.year != time.year) return false;
      const CivilTime day = to_civil(monday + int64_t{fields_.weekday - 1} * kSecondsOfDay);
      time.year = day.year;
      time.month = day.month;
      time.day = day.day;
    }
    if (!valid_day(time)) return false;
    if (fields_.hour_ends) --time.hour;
    if (time.hour == 24) {
      if (time.minute != 0 || time.second != 0) return false;
      date_.style.midnight_24 = true;
      time = to_civil(to_seconds(time));
    }
    return true;
  }

  DateScanner scanner_;
  std::string_view pattern_;
  WrittenDate date_;
  Fields fields_;
};

}  // namespace

std::string pattern_error(std::string_view pattern) {
  std::string wrong;
  each_element(
      pattern, [](char) { return true; },
      [&](char code, bool) {
        if (kCodes.find(code) == std::string_view::npos) wrong = code;
        return wrong.empty();
      });
  if (!wrong.empty()) return fmt::format("the code %{} is not one of %{}", wrong, fmt::join(kCodes, " %"));
  if (pattern.ends_with('%') && !pattern.ends_with("%%")) return "it ends in %";
  if (!pattern_has(pattern, "YyG")) return "it has no year (%Y)";
  return "";
}

bool pattern_has(std::string_view pattern, std::string_view codes) {
  return !each_element(
      pattern, [](char) { return true; },
      [&](char code, bool) { return codes.find(code) == std::string_view::npos; });
}

bool pattern_has_clock(std::string_view pattern) {
  return pattern_has(pattern, kClockCodes);
}

std::string_view season_pattern(std::string_view text) {
  for (const std::string_view pattern : {"%Y/%y", "%Y-%y", "%Y/%Y", "%Y-%Y"}) {
    std::string_view rest = text;
    if (read_pattern(rest, pattern) && rest.empty()) return pattern;
  }
  return "";
}

std::optional<WrittenDate> read_pattern(std::string_view& text, std::string_view pattern) {
  return PatternReader(text, pattern).read(text);
}

std::string format_pattern(const CivilTime& time, const DateStyle& style) {
  std::string text;
  const int64_t day_start = to_seconds({time.year, time.month, time.day});
  // The year of an ISO week is that of its Thursday.
  const CivilTime thursday = to_civil(day_start + int64_t{4 - weekday_of(day_start)} * kSecondsOfDay);
  const int64_t thursday_day =
      (to_seconds({thursday.year, thursday.month, thursday.day}) - to_seconds({thursday.year, 1, 1})) /
      kSecondsOfDay;
  const auto number = [&](int64_t value, int width, bool padded) {
    text += fmt::format("{:0{}}", value, padded ? width : 1);
  };
  int64_t year = time.year;  // a second one is the next
  each_element(
      style.pattern,
      [&](char c) {
        text += c;
        return true;
      },
      [&](char code, bool padded) {
        switch (code) {
          case 'Y':
            number(year++, 4, padded);
            break;
          case 'G':
            number(thursday.year, 4, padded);
            break;
          case 'y':
            number(((year++ % 100) + 100) % 100, 2, padded);
            break;
          case 'm':
            number(time.month, 2, padded && style.padded);
            break;
          case 'd':
            number(time.day, 2, padded && style.padded);
            break;
          case 'j':
            number((day_start - to_seconds({time.year, 1, 1})) / kSecondsOfDay + 1, 3, padded);
            break;
          case 'q':
            number((time.month + 2) / 3, 1, padded);
            break;
          case 'o':
            number((time.month + 5) / 6, 1, padded);
            break;
          case 'V':
            number(thursday_day / 7 + 1, 2, padded && style.padded);
            break;
          case 'u':
            number(weekday_of(day_start), 1, padded);
            break;
          case 'H':
            number(time.hour, 2, padded && style.padded_hour);
            break;
          case 'I':
            number((time.hour + 11) % 12 + 1, 2, padded && style.padded_hour);
            break;
          case 'h':
            number(time.hour + 1, 2, padded && style.padded_hour);
            break;
          case 'M':
            number(time.minute, 2, padded);
            break;
          case 'S':
            number(time.second, 2, padded);
            break;
          case 'f':
            text += std::string(static_cast<size_t>(std::max(style.fraction_digits, 1)), '0');
            break;
          case 'p':
            text += time.hour < 12 ? kHalfDays[style.half_days].am : kHalfDays[style.half_days].pm;
            break;
          case 'b':
          case 'B':
            text +=
                month_name(time.month, style.month == DateStyle::full_name, style.languages, style.letters);
            if (style.month_dot) text += '.';
            break;
          case 'a':
          case 'A':
            text += weekday_name(weekday_of(day_start), style.weekday == DateStyle::full_weekday,
                                 style.languages, style.letters);
            break;
          case 'z':
            text += zone_text(style);
            break;
          default:
            break;
        }
        return true;
      });
  return text;
}

}  // namespace modewise::io
