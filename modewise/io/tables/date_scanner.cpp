// Parts of dates: names, clocks, zones.

#include "modewise/io/tables/date_scanner.h"

#include <algorithm>

#include "modewise/io/tables/date_time.h"
#include "modewise/io/tables/month_names.h"
#include "modewise/io/tables/zone_names.h"

namespace modewise::io {

bool scan_month(DateScanner& scanner, int& month, DateStyle& style) {
  const std::string_view word = scanner.word();
  const auto name = find_month(word);
  if (!name) return false;
  month = name->number;
  style.month = name->full ? DateStyle::full_name : DateStyle::short_name;
  style.languages = name->languages;
  style.letters = name->letters;
  scanner.skip(word.size());
  const char after = scanner.peek(1);
  // In 1.Jul.2016 the dot is the separator.
  if (style.month == DateStyle::short_name && scanner.peek() == '.' && !is_digit(after)) {
    style.month_dot = true;
    scanner.skip(1);
  }
  return true;
}

bool scan_weekday(DateScanner& scanner, DateStyle& style) {
  const std::string_view word = scanner.word();
  const auto name = find_weekday(word);
  if (!name) return false;
  style.weekday = name->full ? DateStyle::full_weekday : DateStyle::short_weekday;
  style.languages = name->languages;
  style.letters = name->letters;
  scanner.skip(word.size());
  return true;
}

bool scan_half_day(DateScanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  bool found = false, afternoon = false;
  for (int i = 0; i < static_cast<int>(std::size(kHalfDays)) && !found; ++i) {
    const HalfDays& names = kHalfDays[i];
    afternoon = scanner.take(names.pm);
    found = afternoon || scanner.take(names.am);
    if (found) style.half_days = i;
  }
  if (!found && to_lower(scanner.peek(1)) == 'm' &&
      (to_lower(scanner.peek()) == 'a' || to_lower(scanner.peek()) == 'p')) {
    afternoon = to_lower(scanner.peek()) == 'p';
    found = true;
    scanner.skip(2);
  }
  if (!found) return true;
  if (date.time.hour < 1 || date.time.hour > 12) return false;
  style.twelve_hours = true;
  date.time.hour = date.time.hour % 12 + (afternoon ? 12 : 0);
  return true;
}

namespace {

/// +01:00, +0100, +01; with `short_too` also +1.
bool scan_offset(DateScanner& scanner, DateStyle& style, bool short_too) {
  const bool negative = scanner.peek() == '-';
  scanner.skip(1);
  const size_t digits = scanner.digits_ahead();
  if (digits != 2 && digits != 4 && !(short_too && digits == 1)) return false;
  const int hours = scanner.number(std::min<size_t>(digits, 2));
  int minutes = 0;
  style.offset_form = DateStyle::hours_only;
  if (digits == 4) {
    minutes = scanner.number(2);
    style.offset_form = DateStyle::digits;
  } else if (scanner.take(':')) {
    if (scanner.digits_ahead() != 2) return false;
    minutes = scanner.number(2);
    style.offset_form = DateStyle::colon;
  }
  if (hours > 23 || minutes > 59) return false;
  if (minutes != 0 && style.offset_form == DateStyle::hours_only) return false;
  style.has_offset = true;
  style.offset_minutes = (negative ? -1 : 1) * (hours * 60 + minutes);
  return true;
}

}  // namespace

bool scan_zone(DateScanner& scanner, DateStyle& style) {
  const bool spaced = scanner.take_spaces();
  style.zone_marks = "";
  if (scanner.done()) return true;
  const bool brackets = scanner.take('(');
  if (scanner.peek() == '+' || scanner.peek() == '-') {
    if (!scan_offset(scanner, style, false)) return false;
  } else {
    const std::string_view word = scanner.word();
    const ZoneName* zone = find_zone_name(word == "z" ? "Z" : word);
    if (zone == nullptr) return word.empty() && !brackets;
    scanner.skip(word.size());
    style.has_offset = true;
    style.offset_minutes = zone->offset_minutes;
    style.zone = zone->name;
    if (zone->guessed) style.guessed_zone = zone->name;
    if (zone->offset_minutes == 0 && word.size() == 3 && (scanner.peek() == '+' || scanner.peek() == '-')) {
      style.zone = "";  // UTC+1
      if (!scan_offset(scanner, style, true)) return false;
    }
  }
  if (brackets && !scanner.take(')')) return false;
  if (scanner.peek() == '[') {  // the name of the zone besides its offset
    const size_t end = scanner.rest().find(']');
    if (end == std::string_view::npos) return false;
    scanner.skip(end + 1);
  }
  style.zone_marks = brackets ? " ()" : spaced ? " " : "";
  return true;
}

bool scan_iso_seconds(std::string_view text, CivilTime& time) {
  static constexpr std::string_view kPattern = "0000-00-00 00:00:00";
  if (text.size() != kPattern.size()) return false;
  for (size_t i = 0; i < kPattern.size(); ++i) {
    if (kPattern[i] == '0' ? !is_digit(text[i]) : text[i] != kPattern[i]) return false;
  }
  const auto two = [&](size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  time = {two(0) * 100 + two(2), two(5), two(8), two(11), two(14), two(17)};
  return valid_day(time) && time.hour <= 23 && time.minute <= 59 && time.second <= 59;
}
bool scan_clock(DateScanner& scanner, WrittenDate& date, bool compact_too) {
  DateStyle& style = date.style;
  CivilTime& time = date.time;
  size_t digits = scanner.digits_ahead();
  const auto two_digits = [&](int& value) {
    if (scanner.digits_ahead() < 2) return false;
    value = scanner.number(2);
    return value <= 59;
  };
  style.clock = DateStyle::hours;
  style.padded_hour = digits != 1;
  if (compact_too && (digits == 4 || digits == 6)) {
    style.clock_mark = 0;
    style.clock = digits == 4 ? DateStyle::minutes : DateStyle::seconds;
    time.hour = scanner.number(2);
    if (!two_digits(time.minute) || (digits == 6 && !two_digits(time.second))) return false;
  } else {
    if (digits != 1 && digits != 2) return false;
    time.hour = scanner.number(digits);
    const char mark = scanner.peek();
    if ((mark == ':' || mark == '.') && is_digit(scanner.peek(1))) {
      style.clock_mark = mark;
      style.clock = DateStyle::minutes;
      scanner.skip(1);
      if (scanner.digits_ahead() != 2 || !two_digits(time.minute)) return false;
      if (scanner.peek() == mark) {
        scanner.skip(1);
        style.clock = DateStyle::seconds;
        if (scanner.digits_ahead() != 2 || !two_digits(time.second)) return false;
      }
    }
  }
  const char fraction = scanner.peek();
  if (style.clock == DateStyle::seconds && (fraction == '.' || fraction == ',') &&
      is_digit(scanner.peek(1))) {
    scanner.skip(1);
    digits = scanner.digits_ahead();
    style.fraction_digits = static_cast<int>(std::min<size_t>(digits, 9));
    style.fraction_mark = fraction;
    scanner.skip(digits);
  }
  DateScanner ahead = scanner;
  style.half_day_space = ahead.take_spaces();
  if (!scan_half_day(ahead, date)) return false;
  if (style.twelve_hours)
    scanner = ahead;
  else if (style.clock == DateStyle::hours && !style.padded_hour)
    return false;  // "2016-07-01 5" is not a time
  style.half_day_space = style.half_day_space || !style.twelve_hours;
  return time.hour <= 23 || (time.hour == 24 && time.minute == 0 && time.second == 0);
}

void carry_midnight(WrittenDate& date) {
  if (date.time.hour != 24) return;
  date.style.midnight_24 = true;
  date.time = to_civil(to_seconds(date.time));
}

namespace {

/// The mark between date and time.
bool scan_clock_separator(DateScanner& scanner, DateStyle& style) {
  const char mark = to_lower(scanner.peek()) == 't' ? 'T' : scanner.peek();
  style.clock_separator = mark;
  if (mark == ' ') return scanner.take_spaces();
  if (mark != 'T' && mark != '_' && mark != ',' && !(mark == ':' && style.month != DateStyle::number))
    return false;
  scanner.skip(1);
  return mark != ',' || scanner.take_spaces();
}

}  // namespace

bool scan_rest(DateScanner& scanner, WrittenDate& date) {
  if (scanner.done()) {
    date.style.clock = DateStyle::no_clock;
    return true;
  }
  if (!scan_clock_separator(scanner, date.style)) return false;
  if (date.style.clock_separator == ' ' && !is_digit(scanner.peek())) {  // 2016-07-01 UTC
    date.style.clock = DateStyle::no_clock;
    if (!scan_zone(scanner, date.style) || !scanner.done() || !date.style.has_offset) return false;
    date.style.zone_marks = date.style.zone_marks.empty() ? " " : date.style.zone_marks;
    return true;
  }
  const bool compact_too = date.style.separator == 0 || date.style.clock_separator != ' ';
  if (!scan_clock(scanner, date, compact_too) || !scan_zone(scanner, date.style) || !scanner.done())
    return false;
  carry_midnight(date);
  return true;
}

}  // namespace modewise::io
