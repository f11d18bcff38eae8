// Date parser for tables.

#include <algorithm>
#include <utility>

#include "modewise/io/tables/date_pattern.h"
#include "modewise/io/tables/date_scanner.h"
#include "modewise/io/tables/date_time.h"

namespace modewise::io {

namespace {

std::string_view strip(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// 2016Q3, 2016-Q3, 2016 Q3, from the Q on.
bool scan_quarter(DateScanner& scanner, WrittenDate& date) {
  scanner.skip(1);
  if (scanner.digits_ahead() != 1) return false;
  const int quarter = scanner.number(1);
  date.time.month = 3 * quarter - 2;
  date.style.quarter = true;
  date.style.has_day = false;
  return quarter >= 1 && quarter <= 4 && scanner.done();
}

/// 2016-Jul-01, 2016 Jul, from the month on.
bool scan_named_month_and_day(DateScanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  if (!scan_month(scanner, date.time.month, style)) return false;
  style.has_day = !scanner.done();
  if (!style.has_day) return true;
  if (!scanner.take(style.separator)) return false;
  const size_t digits = scanner.digits_ahead();
  if (digits < 1 || digits > 2) return false;
  style.padded = digits == 2;
  date.time.day = scanner.number(digits);
  return valid_day(date.time);
}

bool scan_year_first(DateScanner& scanner, WrittenDate& date) {
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
bool scan_last_year(DateScanner& scanner, WrittenDate& date) {
  const size_t digits = scanner.digits_ahead();
  if (digits != 4 && digits != 2) return false;
  date.style.short_year = digits == 2;
  date.time.year = scanner.number(digits);
  if (date.style.short_year) date.time.year = year_of_two_digits(static_cast<int>(date.time.year));
  return true;
}

/// 01-Jul-2016, 1 July 16, from the month on.
bool scan_named_month_and_year(DateScanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  style.order = DateStyle::day_first;
  return scan_month(scanner, date.time.month, style) && scanner.take(style.separator) &&
         scan_last_year(scanner, date) && valid_day(date.time);
}

/// Jul 2016, July-2016 and Jul 1, 2016.
bool scan_month_first(DateScanner& scanner, WrittenDate& date) {
  DateStyle& style = date.style;
  style.order = DateStyle::month_first;
  if (!scan_month(scanner, date.time.month, style)) return false;
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

bool scan_year_last(DateScanner& scanner, WrittenDate& date) {
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

bool scan_compact(DateScanner& scanner, WrittenDate& date) {
  date.style.separator = 0;
  date.time.year = scanner.number(4);
  date.time.month = scanner.number(2);
  date.time.day = scanner.number(2);
  return valid_day(date.time);
}

/// Forms of dates besides those of scan_date, tried in this order.
struct DateForm {
  std::string_view pattern;
  bool needs_clock = false;
};
constexpr DateForm kForms[] = {
    {"%YM%m"},           // 2005M01
    {"%m/%Y"},           // 1/2005
    {"%m-%Y"},           // 01-2005
    {"%Y/%m"},           // 2005/01
    {"%b-%y"},           // Jan-05
    {"%b/%y"},           // Jan/05
    {"%b, %Y"},          // January, 2005
    {"%b de %Y"},        // enero de 2005
    {"%b%Y"},            // JAN2005
    {"%b %d %Y"},        // Jan 1 2005
    {"%d%b%Y"},          // 01JAN2005
    {"%d. %b %Y"},       // 1. Januar 2005
    {"%d de %b de %Y"},  // 1 de enero de 2005
    {"Q%q %Y"},          // Q1 2005
    {"Q%q-%Y"},
    {"Q%q/%Y"},
    {"%qQ%Y"},  // 1Q2005
    {"%qQ %Y"},
    {"%Yq%q"},      // 2005q1
    {"%YT%q"},      // 2005T1, Spanish and French quarters
    {"%G-W%V-%u"},  // 2005-W01-1
    {"%G-W%V"},
    {"%G W%V"},
    {"%GW%V%u"},
    {"%GW%V"},
    {"%Y-%j", true},           // 2005-001T00:00
    {"%b %d %H:%M:%S %Y"},     // Jan 1 00:00:00 2005
    {"%b %d %H:%M:%S %z %Y"},  // Jan 1 00:00:00 UTC 2005
    {"%Ym%m"},                 // 2005m1
    {"%qQ%y"},                 // 1Q05
    {"%Y-T%q"},                // 2005-T1
    {"Q%q-%y"},                // Q1-05
    {"Q%q %y"},
    {"Q%q'%y"},
    {"%Y-S%o"},  // 2005-S1, Eurostat's half-years
    {"%YS%o"},
    {"S%o %Y"},
    {"%Y-H%o"},  // 2005-H1
    {"%YH%o"},
    {"%Y H%o"},
    {"H%o %Y"},
    {"H%o-%Y"},
    {"H%o/%Y"},
    {"%oH%Y"},
    {"%G Week %V"},  // 2005 Week 1
    {"%G, Week %V"},
    {"Week %V %G"},
    {"Week %V, %G"},
    {"W%V %G"},
    {"W%V-%G"},
    {"W%V/%G"},
    {"%G KW %V"},  // 2005 KW 1, German weeks
    {"%G KW%V"},
    {"%G-KW%V"},
    {"%G/KW%V"},
    {"KW %V/%G"},
    {"KW%V/%G"},
    {"KW %V %G"},
    {"KW%V %G"},
    {"%Y_%m_%d"},
    {"%Y-%m-%d-%H:%M:%S"},
    {"%Y-%m-%d-%H:%M"},
    {"%d/%m/%Y %Hh%M"},      // 01/02/2005 13h30
    {"%d.%m.%Y %H:%M Uhr"},  // 01.02.2005 13:30 Uhr
    {"%Y年%m月%d日"},        // Chinese and Japanese
    {"%Y年%m月%d日 %H:%M:%S"},
    {"%Y年%m月%d日 %H:%M"},
    {"%Y年%m月%d日 %H时%M分"},
    {"%Y年%m月%d日 %H時%M分"},
    {"%Y年%m月%d日 %H时"},
    {"%Y年%m月%d日%H时"},
    {"%Y年%m月%d日 %H時"},
    {"%Y年%m月%d日%H時"},
    {"%Y年%m月"},
    {"%Y년 %m월 %d일"},  // Korean
    {"%Y년 %m월"},
    {"%Y. %m. %d."},
};

/// False for most texts that do not have the form: they begin in another way, or their first number ends
/// before another mark.
bool may_fit(std::string_view text, std::string_view pattern) {
  if (pattern[0] != '%') return text[0] == pattern[0];
  if (pattern[1] == 'b') return true;
  const DateScanner scanner(text);
  const size_t digits = scanner.digits_ahead();
  const char mark = pattern[2];
  return digits > 0 && (mark == '%' || mark == ' ' || mark == scanner.peek(digits));
}

std::optional<WrittenDate> read_form(std::string_view text) {
  if (text.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;  // all have a year
  for (const DateForm& form : kForms) {
    if (!may_fit(text, form.pattern)) continue;
    std::string_view rest = text;
    auto date = read_pattern(rest, form.pattern);
    if (!date) continue;
    DateScanner scanner(rest);
    if (pattern_has_clock(form.pattern)) {
      if (scanner.done()) return date;
      continue;
    }
    if (scanner.done() ? form.needs_clock : !date->style.has_day) continue;
    if (scan_rest(scanner, *date)) return date;
  }
  return std::nullopt;
}

bool scan_date(DateScanner& scanner, WrittenDate& date) {
  const size_t digits = scanner.digits_ahead();
  const char separator = scanner.peek(digits);
  const bool separated = separator == '-' || separator == '/' || separator == '.' || separator == ' ';
  if (digits == 0) return scan_month_first(scanner, date);
  if (digits == 8 && (!separated || separator == ' ')) return scan_compact(scanner, date);
  if (digits == 4 && (separated || separator == 'Q')) return scan_year_first(scanner, date);
  return (digits == 1 || digits == 2) && separated && scan_year_last(scanner, date);
}

std::optional<WrittenDate> read_without_weekday(std::string_view text) {
  WrittenDate date;
  DateScanner scanner(text);
  if (scan_date(scanner, date) && scan_rest(scanner, date)) return date;
  return read_form(text);
}

/// Fri, 01 Jul 2016.
std::optional<WrittenDate> read_with_weekday(std::string_view text) {
  DateScanner scanner(text);
  DateStyle weekday;
  if (!scan_weekday(scanner, weekday)) return std::nullopt;
  for (const std::string_view mark : {"., ", ". ", ", ", " "}) {
    if (!scanner.take(mark)) continue;
    scanner.take_spaces();
    auto date = read_without_weekday(scanner.rest());
    if (!date || date->style.weekday != DateStyle::no_weekday) return std::nullopt;
    DateStyle& style = date->style;
    if (style.month == DateStyle::number) {
      style.languages = weekday.languages;
      style.letters = weekday.letters;
    }
    style.languages = style.languages & weekday.languages;
    if (style.languages == 0) return std::nullopt;
    style.weekday = weekday.weekday;
    style.weekday_mark = mark;
    return date;
  }
  return std::nullopt;
}

bool is_possible(std::string_view text) {
  // Shortest: 1Q16; longest: 2016-07-01T00:00:00.000000000+01:00 with room for spaces.
  const size_t size = text.size();
  if (size < 4 || size > 48) return false;
  return (size >= 6 || text[0] == 'Q' || text[1] == 'Q') &&
         (is_digit(text.front()) || is_letter(text.front())) &&
         std::any_of(text.begin(), text.end(), is_digit);
}

std::optional<WrittenDate> read_time(std::string_view text) {
  if (!is_possible(text)) return std::nullopt;
  auto date = read_without_weekday(text);
  if (!date && is_letter(text.front())) date = read_with_weekday(text);
  return date;
}

bool numbered_year_last(const DateStyle& style) {
  return style.order != DateStyle::year_first && style.month == DateStyle::number && style.pattern.empty();
}

WrittenDate exchanged(WrittenDate date) {
  if (date.style.midnight_24) date.time = to_civil(to_seconds(date.time) - kSecondsOfDay);
  std::swap(date.time.month, date.time.day);
  if (date.style.midnight_24) date.time = to_civil(to_seconds(date.time) + kSecondsOfDay);
  date.style.order =
      date.style.order == DateStyle::month_first ? DateStyle::day_first : DateStyle::month_first;
  return date;
}

/// Resolves day and month of the ends of an interval; false if they contradict each other.
bool agree(WrittenDate& start, WrittenDate& end) {
  if (numbered_year_last(start.style) != numbered_year_last(end.style)) return false;
  if (!numbered_year_last(start.style)) return true;
  if (start.style.order != end.style.order) {
    if (!start.style.order_guessed && !end.style.order_guessed) return false;
    WrittenDate& guessed = start.style.order_guessed ? start : end;
    guessed = exchanged(guessed);
    start.style.order_guessed = end.style.order_guessed = false;
  }
  if (start.style.order_guessed && end.style.order_guessed) {
    const WrittenDate other_start = exchanged(start), other_end = exchanged(end);
    const int64_t length = to_seconds(end.time) - to_seconds(start.time);
    const int64_t other_length = to_seconds(other_end.time) - to_seconds(other_start.time);
    if (length == other_length) return true;
    if (other_length >= 0 && (length < 0 || other_length < length)) {
      start = other_start;
      end = other_end;
    }
  }
  start.style.order_guessed = end.style.order_guessed = false;
  return true;
}

/// 01.01.2024 00:00 - 01.01.2024 01:00.
std::optional<WrittenDate> read_interval(std::string_view text) {
  constexpr int64_t kLongest = 400 * kSecondsOfDay;
  for (const std::string_view mark : {" - ", " – ", " — ", " / ", "/", " to ", " bis "}) {
    const size_t at = text.find(mark);
    if (at == std::string_view::npos) continue;
    auto start = read_time(strip(text.substr(0, at)));
    if (!start) continue;
    const std::string_view rest = strip(text.substr(at + mark.size()));
    DateStyle& style = start->style;
    auto end = read_time(rest);
    int64_t seconds = 0;
    bool ends_with_offset = false;
    if (end) {
      if (end->style.clock != style.clock && style.clock == DateStyle::no_clock) continue;
      if (!agree(*start, *end)) continue;
      seconds = to_seconds(end->time) - to_seconds(start->time);
      ends_with_offset = end->style.has_offset;
      if (ends_with_offset && !style.has_offset) {
        style.interval_zone_once = true;
        style.has_offset = true;
        style.offset_form = end->style.offset_form;
        style.zone = end->style.zone;
        style.zone_marks = end->style.zone_marks;
        style.guessed_zone = end->style.guessed_zone;
        style.offset_minutes = end->style.offset_minutes;
      }
      // Ends with the offsets of summer and winter.
      seconds -= int64_t{end->style.has_offset ? end->style.offset_minutes - style.offset_minutes : 0} * 60;
    } else if (const auto clock = read_clock(rest); clock && style.clock != DateStyle::no_clock) {
      style.interval_clock_only = true;
      style.clock = std::max(style.clock, clock->style.clock);
      if (style.clock_mark == 0) style.clock_mark = clock->style.clock_mark;
      const int64_t time = to_seconds(start->time);
      seconds = clock->seconds - ((time % kSecondsOfDay + kSecondsOfDay) % kSecondsOfDay);
      if (seconds < 0) seconds += kSecondsOfDay;
    } else {
      continue;
    }
    if (seconds < 0 || seconds > kLongest) continue;
    style.interval_mark = mark;
    style.interval = seconds;
    return start;
  }
  return std::nullopt;
}

}  // namespace

std::optional<WrittenDate> read_date_time(std::string_view text) {
  text = strip(text);
  WrittenDate date;
  if (scan_iso_seconds(text, date.time)) return date;
  if (auto time = read_time(text)) return time;
  if (text.size() < 13 || text.size() > 100 || !is_digit(text.front())) return std::nullopt;
  return read_interval(text);
}

std::optional<WrittenClock> read_clock(std::string_view text) {
  DateScanner scanner(strip(text));
  WrittenDate date;
  if (!is_digit(scanner.peek()) || !scan_clock(scanner, date, false)) return std::nullopt;
  if (!scanner.done() || (date.style.clock == DateStyle::hours && !date.style.twelve_hours))
    return std::nullopt;
  const CivilTime& time = date.time;
  date.style.midnight_24 = time.hour == 24;
  return WrittenClock{time.hour * 3600 + time.minute * 60 + time.second, date.style};
}

std::optional<int64_t> parse_date_time(std::string_view text) {
  const auto date = read_date_time(text);
  if (!date) return std::nullopt;
  return to_seconds(date->time) - int64_t{date->style.offset_minutes} * 60;
}

}  // namespace modewise::io
