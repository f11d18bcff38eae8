#pragma once
// Scanner of dates, which consumes a text from the front: names, clocks and zones, for date_reader.cpp and
// date_pattern.cpp.

#include <string_view>

#include "modewise/io/ascii.h"
#include "modewise/io/tables/date_time.h"

namespace modewise::io {

/// Letters of ASCII, and bytes of other letters in UTF-8.
inline bool is_letter(char c) {
  return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

class DateScanner {
 public:
  explicit DateScanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  char peek(size_t ahead = 0) const { return ahead < rest_.size() ? rest_[ahead] : '\0'; }
  bool take(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
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
  /// Takes at most nine digits.
  int number(size_t digits) {
    int value = 0;
    for (size_t i = 0; i < digits; ++i) value = value * 10 + (rest_[i] - '0');
    rest_.remove_prefix(digits);
    return value;
  }
  void skip(size_t n) { rest_.remove_prefix(n); }
  /// The letters ahead.
  std::string_view word() const {
    size_t letters = 0;
    while (is_letter(peek(letters))) ++letters;
    return rest_.substr(0, letters);
  }

 private:
  std::string_view rest_;
};

inline bool valid_day(const CivilTime& time) {
  return time.month >= 1 && time.month <= 12 && time.day >= 1 &&
         time.day <= days_in_month(time.year, time.month);
}

/// 1969 to 2068.
inline int64_t year_of_two_digits(int digits) {
  return digits + (digits >= 69 ? 1900 : 2000);
}

/// A month name, in full or abbreviated, the abbreviation with or without a dot.
bool scan_month(DateScanner& scanner, int& month, DateStyle& style);
bool scan_weekday(DateScanner& scanner, DateStyle& style);
/// AM, p.m. …; the hour must be read, and becomes that of the day. True, too, where there is none.
bool scan_half_day(DateScanner& scanner, WrittenDate& date);
/// Z, +01:00, CET, (CET), UTC+1, +01:00[Europe/Berlin]; true, too, where there is none.
bool scan_zone(DateScanner& scanner, DateStyle& style);
/// hh, hh:mm, hh:mm:ss, hh:mm:ss.fff, also with dots or, with `compact_too`, without marks; with AM or PM.
/// The hour may be 24 at midnight.
bool scan_clock(DateScanner& scanner, WrittenDate& date, bool compact_too);
/// Moves 24:00 to the next day.
void carry_midnight(WrittenDate& date);
/// Clock and zone after a date, or nothing.
bool scan_rest(DateScanner& scanner, WrittenDate& date);
/// "2016-07-01 00:00:00", the most frequent form.
bool scan_iso_seconds(std::string_view text, CivilTime& time);

}  // namespace modewise::io
