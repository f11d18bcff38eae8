#pragma once
// Dates and times on the proleptic Gregorian calendar without time zones: seconds since 1970-01-01T00:00:00
// in the local time of the file.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace modewise::io {

/// Date format of a file, so that forecasts use the same format.
struct DateStyle {
  enum Order { year_first, month_first, day_first };
  enum Clock { no_clock, hours, minutes, seconds };
  enum Month { number, short_name, full_name };

  Order order = year_first;
  char separator = '-';        // between year, month and day; 0: none, 20160701
  char clock_separator = ' ';  // between date and time: ' ' or 'T'
  Clock clock = seconds;
  int fraction_digits = 0;     // digits after the seconds; always written as zeros
  bool has_day = true;         // false: 2016-07
  bool quarter = false;        // 2016Q3, without a day
  Month month = number;        // 01-Jul-2016, 1 July 2016
  bool capitals = false;       // month name in capitals: JUL
  bool padded = true;          // 07/01/2016 or 7/1/2016
  bool padded_hour = true;     // 09:00 or 9:00
  bool short_year = false;     // 7/1/16
  bool twelve_hours = false;   // 1:00 PM
  bool has_offset = false;     // ends in Z or +01:00
  bool zulu = false;           // … in Z
  int offset_minutes = 0;      // UTC offset, the same in every row
  int64_t epoch = 0;           // 1, 1000: Unix time in seconds or milliseconds
  bool order_guessed = false;  // both month_first and day_first fit every row; the usual one was chosen

  bool operator==(const DateStyle&) const = default;
  /// For messages, e.g. "month/day/year hour:minute".
  std::string text() const;
};

/// The order chosen if both fit: 01.02.2016 is in February, 01/02/2016 and 01-02-2016 in January.
DateStyle::Order usual_order(char separator);

struct CivilTime {
  int64_t year = 1970;
  int month = 1, day = 1, hour = 0, minute = 0, second = 0;
  bool operator==(const CivilTime&) const = default;
};

/// Seconds of a calendar time; the fields must be in range (days up to the month's length).
int64_t to_seconds(const CivilTime& time);
CivilTime to_civil(int64_t seconds);
int days_in_month(int64_t year, int month);

/// `months` later at the same time; the day is clipped to the month's length (31 January + 1 = 28 or 29
/// February).
int64_t add_months(int64_t seconds, int64_t months);

/// Parses ISO 8601 (2016-07-01, 2016-07-01 00:00[:00[.000]], …T…, 2016-07, trailing Z or ±hh:mm), 2016/07/01
/// …, 01.07.2016 … (day first unless only month first fits), 07/01/2016 …, 07-01-2016 … and 7/1/16 … (month
/// first unless only day first fits), 20160701, 12-hour times with AM or PM; English month names
/// (01-Jul-2016, 1 July 2016, Jul 1, 2016, Jul 2016, 2016-Jul-01, 2016 Jul) and quarters (2016Q3, 2016-Q3,
/// 2016 Q3), which begin with their first month. Fractions of a second are dropped; a UTC offset is
/// subtracted. nullopt for any other text and for invalid dates or times.
std::optional<int64_t> parse_date_time(std::string_view text);

/// A parsed date with its style, before day and month are resolved.
struct WrittenDate {
  CivilTime time;   // under style.order
  DateStyle style;  // order_guessed: day and month may be swapped
};
std::optional<WrittenDate> read_date_time(std::string_view text);

std::string format_date_time(int64_t seconds, const DateStyle& style = {});

}  // namespace modewise::io
