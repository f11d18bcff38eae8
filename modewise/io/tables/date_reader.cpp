// Date parser for tables.

#include <algorithm>
#include <array>
#include <utility>

#include "modewise/io/tables/date_time.h"
#include "modewise/io/tables/month_names.h"

namespace modewise::io {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_letter(char c) {
  return lower(c) >= 'a' && lower(c) <= 'z';
}

std::string_view strip(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Scanner that consumes a text from the front.
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
  /// Month name, in full or with three letters (September also with four).
  bool take_month(int& month, DateStyle& style) {
    size_t letters = 0;
    while (is_letter(peek(letters))) ++letters;
    const auto name = find_month(rest_.substr(0, letters));
    if (!name) return false;
    month = name->month;
    style.month = name->full ? DateStyle::full_name : DateStyle::short_name;
    style.capitals = rest_[1] >= 'A' && rest_[1] <= 'Z';
    rest_.remove_prefix(letters);
    return true;
  }

 private:
  std::string_view rest_;
};

bool valid_day(const CivilTime& time) {
  return time.month >= 1 && time.month <= 12 && time.day >= 1 &&
         time.day <= days_in_month(time.year, time.month);
}

/// 2016Q3, 2016-Q3, 2016 Q3, from the Q on.
bool scan_quarter(Scanner& scanner, WrittenDate& date) {
  scanner.skip(1);
  if (scanner.digits_ahead() != 1) return false;
  const int quarter = scanner.number(1);
  date.time.month = 3 * quarter - 2;
  date.style.quarter = true;
  date.style.has_day = false;
  return quarter >= 1 && quarter <= 4 && scanner.done();
}

/// 2016-Jul-01, 2016 Jul, from the month on.
bool scan_named_month_and_day(Scanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  if (!scanner.take_month(date.time.month, style)) return false;
  style.has_day = !scanner.done();
  if (!style.has_day) return true;
  if (!scanner.take(style.separator)) return false;
  const size_t digits = scanner.digits_ahead();
  if (digits < 1 || digits > 2) return false;
  style.padded = digits == 2;
  date.time.day = scanner.number(digits);
  return valid_day(date.time);
}

bool scan_year_first(Scanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  style.order = DateStyle::year_first;
  date.time.year = scanner.number(4);
  if (scanner.peek() == 'Q') {
    style.separator = 0;
    return scan_quarter(scanner, date);
  }
  style.separator = scanner.peek();
  scanner.skip(1);
  if (scanner.peek() == 'Q' && style.separator != '/') return scan_quarter(scanner, date);
  if (is_letter(scanner.peek())) return scan_named_month_and_day(scanner, date);
  if (style.separator == ' ') return false;
  const size_t month_digits = scanner.digits_ahead();
  if (month_digits < 1 || month_digits > 2) return false;
  date.time.month = scanner.number(month_digits);
  if (!scanner.take(style.separator)) {
    // Only ISO has year and two-digit month alone; 2016/7 or 2016.07 is more likely something else.
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

/// The year at the end of a date, with four or two digits.
bool scan_last_year(Scanner& scanner, WrittenDate& date) {
  const size_t digits = scanner.digits_ahead();
  if (digits != 4 && digits != 2) return false;
  date.style.short_year = digits == 2;
  date.time.year = scanner.number(digits);
  if (date.style.short_year) date.time.year += date.time.year >= 69 ? 1900 : 2000;
  return true;
}

/// 01-Jul-2016, 1 July 16, from the month on.
bool scan_named_month_and_year(Scanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  style.order = DateStyle::day_first;
  return scanner.take_month(date.time.month, style) && scanner.take(style.separator) &&
         scan_last_year(scanner, date) && valid_day(date.time);
}

/// Jul 2016, July-2016 and Jul 1, 2016.
bool scan_month_first(Scanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  style.order = DateStyle::month_first;
  if (!scanner.take_month(date.time.month, style)) return false;
  style.separator = scanner.peek();
  if (style.separator != ' ' && style.separator != '-' && style.separator != '/') return false;
  scanner.skip(1);
  const size_t digits = scanner.digits_ahead();
  style.has_day = digits != 4;
  if (style.has_day) {
    if (style.separator != ' ' || digits < 1 || digits > 2) return false;
    style.padded = digits == 2;
    date.time.day = scanner.number(digits);
    if (!scanner.take(',') || !scanner.take(' ') || scanner.digits_ahead() != 4) return false;
  }
  date.time.year = scanner.number(4);
  return valid_day(date.time) && (style.has_day || scanner.done());
}

bool scan_year_last(Scanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  const size_t first_digits = scanner.digits_ahead();
  const int first = scanner.number(first_digits);
  style.separator = scanner.peek();
  scanner.skip(1);
  if (is_letter(scanner.peek())) {
    style.padded = first_digits == 2;
    date.time.day = first;
    return scan_named_month_and_year(scanner, date);
  }
  if (style.separator == ' ') return false;
  const size_t second_digits = scanner.digits_ahead();
  if (second_digits < 1 || second_digits > 2) return false;
  const int second = scanner.number(second_digits);
  if (!scanner.take(style.separator)) return false;
  if (!scan_last_year(scanner, date)) return false;
  // 16-07-01 may begin with its year; two-digit years are accepted only with '/'.
  if (style.short_year && style.separator == '-') return false;
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

// Parses hh, hh:mm, hh:mm:ss, hh:mm:ss.fff, with AM or PM, with an offset from UTC.
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
    return false;  // "2016-07-01 5" is not a time
  }
  scanner.take_spaces();
  return date.time.hour <= 23 && scan_half_day(scanner, date) && scan_offset(scanner, style) &&
         scanner.done();
}

// Fast path for the most frequent form, "2016-07-01 00:00:00".
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

std::optional<WrittenDate> read_date_time(std::string_view text) {
  text = strip(text);
  // Shortest: 1/1/16; longest: 2016-07-01T00:00:00.000000000+01:00 with room for spaces.
  if (text.size() < 6 || text.size() > 48 || !(is_digit(text.front()) || is_letter(text.front())))
    return std::nullopt;
  WrittenDate date;
  if (text.size() == 19 && scan_iso_seconds(text, date.time)) return date;

  Scanner scanner(text);
  const size_t digits = scanner.digits_ahead();
  const char separator = scanner.peek(digits);
  const bool separated = separator == '-' || separator == '/' || separator == '.' || separator == ' ';
  bool read = false;
  if (digits == 0) {
    read = scan_month_first(scanner, date);
  } else if (digits == 8 && (!separated || separator == ' ')) {
    read = scan_compact(scanner, date);
  } else if (digits == 4 && (separated || separator == 'Q')) {
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

}  // namespace modewise::io
