#include "modewise/io/tables/date_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace modewise::io {
namespace {

constexpr int64_t kDay = 86400;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view strip(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Days since 1970-01-01 and back, with years that begin in March so that the leap day is the last.
int64_t days_from_civil(int64_t year, int month, int day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

CivilTime civil_from_days(int64_t days) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  CivilTime time;
  time.day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  time.month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  time.year = year_of_era + era * 400 + (time.month <= 2);
  return time;
}

// Takes parts off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  char peek(size_t ahead = 0) const { return ahead < rest_.size() ? rest_[ahead] : '\0'; }
  bool take(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_spaces() {
    const size_t before = rest_.size();
    while (peek() == ' ') rest_.remove_prefix(1);
    return rest_.size() < before;
  }
  size_t digits_ahead() const {
    size_t n = 0;
    while (is_digit(peek(n))) ++n;
    return n;
  }
  int number(size_t digits) {
    int value = 0;
    for (size_t i = 0; i < digits; ++i) value = value * 10 + (rest_[i] - '0');
    rest_.remove_prefix(digits);
    return value;
  }
  void skip(size_t n) { rest_.remove_prefix(n); }

 private:
  std::string_view rest_;
};

bool valid_day(const CivilTime& time) {
  return time.month >= 1 && time.month <= 12 && time.day >= 1 &&
         time.day <= days_in_month(time.year, time.month);
}

bool scan_year_first(Scanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  style.order = DateStyle::year_first;
  date.time.year = scanner.number(4);
  style.separator = scanner.peek();
  scanner.skip(1);
  const size_t month_digits = scanner.digits_ahead();
  if (month_digits < 1 || month_digits > 2) return false;
  date.time.month = scanner.number(month_digits);
  if (!scanner.take(style.separator)) {
    // Only ISO writes a month alone with two digits; 2016/7 or 2016.07 is more likely something else.
    style.has_day = false;
    style.clock = DateStyle::no_clock;
    return style.separator == '-' && month_digits == 2 && scanner.done() && valid_day(date.time);
  }
  const size_t day_digits = scanner.digits_ahead();
  if (day_digits < 1 || day_digits > 2) return false;
  style.padded = month_digits == 2 && day_digits == 2;
  date.time.day = scanner.number(day_digits);
  return valid_day(date.time);
}

bool scan_year_last(Scanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  const size_t first_digits = scanner.digits_ahead();
  const int first = scanner.number(first_digits);
  style.separator = scanner.peek();
  scanner.skip(1);
  const size_t second_digits = scanner.digits_ahead();
  if (second_digits < 1 || second_digits > 2) return false;
  const int second = scanner.number(second_digits);
  if (!scanner.take(style.separator)) return false;
  const size_t year_digits = scanner.digits_ahead();
  if (year_digits != 4 && year_digits != 2) return false;
  style.short_year = year_digits == 2;
  // 16-07-01 could begin with its year; of two digits only the forms with / are unmistakable enough.
  if (style.short_year && style.separator == '-') return false;
  date.time.year = scanner.number(year_digits);
  if (style.short_year) date.time.year += date.time.year >= 69 ? 1900 : 2000;
  style.padded = first_digits == 2 && second_digits == 2;

  CivilTime month_first = date.time, day_first = date.time;
  month_first.month = first, month_first.day = second;
  day_first.month = second, day_first.day = first;
  const bool month_first_fits = valid_day(month_first), day_first_fits = valid_day(day_first);
  if (!month_first_fits && !day_first_fits) return false;
  style.order_guessed = month_first_fits && day_first_fits;
  style.order = style.order_guessed ? usual_order(style.separator)
                : month_first_fits  ? DateStyle::month_first
                                    : DateStyle::day_first;
  date.time = style.order == DateStyle::month_first ? month_first : day_first;
  return true;
}

bool scan_compact(Scanner& scanner, WrittenDate& date) {
  date.style.separator = 0;
  date.time.year = scanner.number(4);
  date.time.month = scanner.number(2);
  date.time.day = scanner.number(2);
  return valid_day(date.time);
}

bool scan_offset(Scanner& scanner, DateStyle& style) {
  if (scanner.take('Z')) {
    style.has_offset = style.zulu = true;
    return true;
  }
  const bool negative = scanner.peek() == '-';
  if (!negative && scanner.peek() != '+') return true;
  scanner.skip(1);
  const size_t digits = scanner.digits_ahead();
  if (digits != 2 && digits != 4) return false;
  const int hours = scanner.number(2);
  int minutes = 0;
  if (digits == 4) {
    minutes = scanner.number(2);
  } else if (scanner.take(':')) {
    if (scanner.digits_ahead() != 2) return false;
    minutes = scanner.number(2);
  }
  if (hours > 23 || minutes > 59) return false;
  style.has_offset = true;
  style.offset_minutes = (negative ? -1 : 1) * (hours * 60 + minutes);
  return true;
}

bool scan_half_day(Scanner& scanner, WrittenDate& date) {
  const char half = lower(scanner.peek());
  if ((half != 'a' && half != 'p') || lower(scanner.peek(1)) != 'm') return true;
  scanner.skip(2);
  if (date.time.hour < 1 || date.time.hour > 12) return false;
  date.style.twelve_hours = true;
  date.time.hour = date.time.hour % 12 + (half == 'p' ? 12 : 0);
  return true;
}

// Reads hh, hh:mm, hh:mm:ss, hh:mm:ss.fff, with AM or PM, with an offset from UTC.
bool scan_clock(Scanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  const size_t hour_digits = scanner.digits_ahead();
  if (hour_digits < 1 || hour_digits > 2) return false;
  style.padded_hour = hour_digits == 2;
  date.time.hour = scanner.number(hour_digits);
  style.clock = DateStyle::hours;
  const auto two_digits = [&](int& value) {
    if (scanner.digits_ahead() != 2) return false;
    value = scanner.number(2);
    return value <= 59;
  };
  if (scanner.take(':')) {
    style.clock = DateStyle::minutes;
    if (!two_digits(date.time.minute)) return false;
    if (scanner.take(':')) {
      style.clock = DateStyle::seconds;
      if (!two_digits(date.time.second)) return false;
      if (is_digit(scanner.peek(1)) && (scanner.take('.') || scanner.take(','))) {
        const size_t digits = scanner.digits_ahead();
        style.fraction_digits = static_cast<int>(std::min<size_t>(digits, 9));
        scanner.skip(digits);
      }
    }
  } else if (hour_digits != 2) {
    return false;  // "2016-07-01 5" is no clock
  }
  scanner.take_spaces();
  return date.time.hour <= 23 && scan_half_day(scanner, date) && scan_offset(scanner, style) &&
         scanner.done();
}

// The most frequent form, "2016-07-01 00:00:00", without the general scan.
bool scan_iso_seconds(std::string_view text, CivilTime& time) {
  static constexpr std::string_view kPattern = "0000-00-00 00:00:00";
  for (size_t i = 0; i < kPattern.size(); ++i) {
    if (kPattern[i] == '0' ? !is_digit(text[i]) : text[i] != kPattern[i]) return false;
  }
  const auto two = [&](size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  time = {two(0) * 100 + two(2), two(5), two(8), two(11), two(14), two(17)};
  return valid_day(time) && time.hour <= 23 && time.minute <= 59 && time.second <= 59;
}

}  // namespace

DateStyle::Order usual_order(char separator) {
  return separator == '.' ? DateStyle::day_first : DateStyle::month_first;
}

int days_in_month(int64_t year, int month) {
  static constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[static_cast<size_t>(month - 1)];
}

int64_t to_seconds(const CivilTime& time) {
  return days_from_civil(time.year, time.month, time.day) * kDay + time.hour * 3600 + time.minute * 60 +
         time.second;
}

CivilTime to_civil(int64_t seconds) {
  const int64_t days = seconds / kDay - (seconds % kDay < 0);
  const auto clock = static_cast<int>(seconds - days * kDay);
  CivilTime time = civil_from_days(days);
  time.hour = clock / 3600;
  time.minute = clock / 60 % 60;
  time.second = clock % 60;
  return time;
}

int64_t add_months(int64_t seconds, int64_t months) {
  CivilTime time = to_civil(seconds);
  const int64_t month = time.month - 1 + months;
  const int64_t years = month / 12 - (month % 12 < 0);
  time.year += years;
  time.month = static_cast<int>(month - years * 12) + 1;
  time.day = std::min(time.day, days_in_month(time.year, time.month));
  return to_seconds(time);
}

std::optional<WrittenDate> read_date_time(std::string_view text) {
  text = strip(text);
  // Shortest: 1/1/16; longest: 2016-07-01T00:00:00.000000000+01:00 with room for spaces.
  if (text.size() < 6 || text.size() > 48 || !is_digit(text.front())) return std::nullopt;
  WrittenDate date;
  if (text.size() == 19 && scan_iso_seconds(text, date.time)) return date;

  Scanner scanner(text);
  const size_t digits = scanner.digits_ahead();
  const char separator = scanner.peek(digits);
  const bool separated = separator == '-' || separator == '/' || separator == '.';
  bool read = false;
  if (digits == 8 && !separated) {
    read = scan_compact(scanner, date);
  } else if (digits == 4 && separated) {
    read = scan_year_first(scanner, date);
  } else if ((digits == 1 || digits == 2) && separated) {
    read = scan_year_last(scanner, date);
  }
  if (!read) return std::nullopt;
  if (scanner.done()) {
    date.style.clock = DateStyle::no_clock;
    return date;
  }
  if (scanner.take('T') || scanner.take('t')) {
    date.style.clock_separator = 'T';
  } else if (!scanner.take_spaces()) {
    return std::nullopt;
  }
  if (!scan_clock(scanner, date)) return std::nullopt;
  return date;
}

std::optional<int64_t> parse_date_time(std::string_view text) {
  const auto date = read_date_time(text);
  if (!date) return std::nullopt;
  return to_seconds(date->time) - int64_t{date->style.offset_minutes} * 60;
}

std::string format_date_time(int64_t seconds, const DateStyle& style) {
  const CivilTime time = to_civil(seconds);
  const int width = style.padded ? 2 : 1;
  const std::string separator(style.separator == 0 ? 0 : 1, style.separator);
  const std::string year = style.short_year ? fmt::format("{:02}", ((time.year % 100) + 100) % 100)
                                            : fmt::format("{:04}", time.year);
  const std::string month = fmt::format("{:0{}}", time.month, style.has_day ? width : 2);
  const std::string day = fmt::format("{:0{}}", time.day, width);
  std::string text;
  if (!style.has_day) {
    text = year + separator + month;
  } else if (style.order == DateStyle::year_first) {
    text = year + separator + month + separator + day;
  } else {
    const bool month_first = style.order == DateStyle::month_first;
    text = (month_first ? month : day) + separator + (month_first ? day : month) + separator + year;
  }
  if (style.clock == DateStyle::no_clock) return text;

  const int hour = style.twelve_hours ? (time.hour + 11) % 12 + 1 : time.hour;
  text += style.clock_separator;
  text += fmt::format("{:0{}}", hour, style.padded_hour ? 2 : 1);
  if (style.clock >= DateStyle::minutes) text += fmt::format(":{:02}", time.minute);
  if (style.clock >= DateStyle::seconds) text += fmt::format(":{:02}", time.second);
  if (style.fraction_digits > 0) text += "." + std::string(static_cast<size_t>(style.fraction_digits), '0');
  if (style.twelve_hours) text += time.hour < 12 ? " AM" : " PM";
  if (style.zulu) {
    text += 'Z';
  } else if (style.has_offset) {
    const int offset = std::abs(style.offset_minutes);
    text += fmt::format("{}{:02}:{:02}", style.offset_minutes < 0 ? '-' : '+', offset / 60, offset % 60);
  }
  return text;
}

std::string DateStyle::text() const {
  const std::string year = short_year ? "yy" : "year";
  const std::string mark(separator == 0 ? 0 : 1, separator);
  std::string result;
  if (!has_day) {
    result = year + mark + "month";
  } else if (order == year_first) {
    result = year + mark + "month" + mark + "day";
  } else if (order == month_first) {
    result = "month" + mark + "day" + mark + year;
  } else {
    result = "day" + mark + "month" + mark + year;
  }
  static constexpr std::array<std::string_view, 4> kClocks = {"", "hour", "hour:minute",
                                                              "hour:minute:second"};
  if (clock != no_clock) result += clock_separator + std::string(kClocks[static_cast<size_t>(clock)]);
  if (twelve_hours) result += " AM/PM";
  if (has_offset) result += zulu ? "Z" : "±offset";
  return result;
}

}  // namespace modewise::io
