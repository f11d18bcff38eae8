#pragma once
// Dates and times on the proleptic Gregorian calendar without time zones: seconds since 1970-01-01T00:00:00
// in the local time of the file.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "modewise/io/tables/month_names.h"

namespace modewise::io {

class TimeZone;

inline constexpr int64_t kSecondsOfDay = 86400;

/// Date format of a file, so that forecasts use the same format.
struct DateStyle {
  enum Order { year_first, month_first, day_first };
  enum Clock { no_clock, hours, minutes, seconds };
  enum Month { number, short_name, full_name };
  enum Weekday { no_weekday, short_weekday, full_weekday };
  enum Numbers { calendar, unix_time, excel_days, decimal_year };
  enum OffsetForm { colon, digits, hours_only };  // +01:00, +0100, +01

  Order order = year_first;
  char separator = '-';        // between year, month and day; 0: none, 20160701
  char clock_separator = ' ';  // between date and time: ' ', 'T', '_', ':' or ',' (comma and space)
  Clock clock = seconds;
  int fraction_digits = 0;           // digits after the seconds; always written as zeros
  char fraction_mark = '.';          // before them
  bool has_day = true;               // false: 2016-07
  bool quarter = false;              // 2016Q3, without a day
  Month month = number;              // 01-Jul-2016, 1 July 2016
  bool month_dot = false;            // Jul. after an abbreviated month
  Weekday weekday = no_weekday;      // in front: Fri, 01 Jul 2016
  std::string_view weekday_mark;     // between weekday and date: ", ", " "
  Letters letters = Letters::title;  // of month and weekday names
  uint16_t languages = 1;            // of month and weekday names (month_names.h)
  bool padded = true;                // 07/01/2016 or 7/1/2016
  bool padded_hour = true;           // 09:00 or 9:00
  char clock_mark = ':';             // between hour, minute and second; 0: none, 0930
  bool short_year = false;           // 7/1/16
  bool twelve_hours = false;         // 1:00 PM
  int half_days = 0;                 // as written: position in kHalfDays
  bool half_day_space = true;        // 1:00 PM or 1:00PM
  bool midnight_24 = false;          // midnight is 24:00 of the day before
  bool has_offset = false;           // ends in Z, +01:00 or CET
  OffsetForm offset_form = colon;
  std::string_view zone;             // as written: "Z", "UTC", "CET"; "": an offset
  std::string_view zone_marks;       // around offset or zone: "" none, " ", "()"
  std::string_view guessed_zone;     // an abbreviation that has other meanings, such as CST; "": none
  int offset_minutes = 0;            // UTC offset, the same in every row
  std::string_view interval_mark;    // cells are intervals, 01:00 - 02:00; "": times
  int64_t interval = 0;              // their seconds; -1: they differ, and only starts are written
  bool interval_clock_only = false;  // the end has no date
  bool interval_zone_once = false;   // the start has no zone
  Numbers numbers = calendar;        // dates written as numbers
  int64_t epoch = 0;                 // unix_time: units per second, 1, 1000, 1e6, 1e9
  int year_digits = 0;               // decimal_year: digits after the point
  int year_parts = 12;               // decimal_year: 12 months, 365 days or 8760 hours a year
  bool year_middle = false;          // decimal_year: a month or day is dated at its middle
  std::string pattern;               // other forms, as in date_pattern.h; with a clock it is the whole form
  bool order_guessed = false;        // both month_first and day_first fit every row; the usual one was chosen
  /// Seconds are UTC, written as local time of this zone; with has_offset they are local times, written with
  /// its offset.
  std::shared_ptr<const TimeZone> local;

  bool operator==(const DateStyle&) const = default;
  /// For messages, e.g. "month/day/year hour:minute".
  std::string text() const;
};

/// Names of the halves of the day, as written.
struct HalfDays {
  std::string_view am, pm;
};
inline constexpr HalfDays kHalfDays[] = {
    {"AM", "PM"}, {"am", "pm"}, {"A.M.", "P.M."}, {"a.m.", "p.m."}, {"a. m.", "p. m."}};

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
/// 1 (Monday) to 7.
int weekday_of(int64_t seconds);

/// `months` later at the same time; the day is clipped to the month's length (31 January + 1 = 28 or 29
/// February).
int64_t add_months(int64_t seconds, int64_t months);

/// Parses ISO 8601 (2016-07-01, 2016-07-01 00:00[:00[.000]], …T…, 2016-07, 20160701T0000[00], 2016-W26[-5]),
/// 2016/07/01 …, 01.07.2016 … (day first unless only month first fits), 07/01/2016 …, 07-01-2016 … and 7/1/16
/// … (month first unless only day first fits), 20160701; months (2016M07, 7/2016, 2016/07, Jul-16, July,
/// 2016) and quarters (2016Q3, 2016-Q3, 2016 Q3, Q3 2016), which begin with their first day; names of months
/// (01-Jul-2016, 1. Juli 2016, Jul 1, 2016, 2016-Jul-01) and weekdays (Fri, 01 Jul 2016) in the languages of
/// month_names.h; 24:00, 12-hour times (AM, p.m.); a UTC offset or zone (Z, +01:00, UTC, CET); intervals
/// (01:00 - 02:00), dated by their start. Fractions of a second are dropped; a UTC offset is subtracted.
/// nullopt for any other text and for invalid dates or times.
std::optional<int64_t> parse_date_time(std::string_view text);

/// A parsed date with its style, before day and month are resolved.
struct WrittenDate {
  CivilTime time;   // under style.order
  DateStyle style;  // order_guessed: day and month may be swapped
};
std::optional<WrittenDate> read_date_time(std::string_view text);

/// A time of day alone: 17:24, 5:24:00 p.m., 24:00 (86400).
struct WrittenClock {
  int64_t seconds = 0;
  DateStyle style;  // its clock
};
std::optional<WrittenClock> read_clock(std::string_view text);

std::string format_date_time(int64_t seconds, const DateStyle& style = {});
/// The UTC offset or zone of `style`, with its marks.
std::string zone_text(const DateStyle& style);
/// The clock of `style` alone, "17:24:00".
std::string format_clock(int64_t seconds, const DateStyle& style);

}  // namespace modewise::io
