#include "modewise/io/tables/date_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "modewise/io/tables/date_pattern.h"
#include "modewise/io/tables/month_names.h"
#include "modewise/io/tables/time_zone.h"

namespace modewise::io {
namespace {

// Days since 1970-01-01 and back; years begin in March so that the leap day is the last day.
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

std::string month_text(int month, const DateStyle& style) {
  if (style.quarter) return fmt::format("Q{}", (month + 2) / 3);
  if (style.month == DateStyle::number)
    return fmt::format("{:0{}}", month, style.padded || !style.has_day ? 2 : 1);
  std::string name = month_name(month, style.month == DateStyle::full_name, style.languages, style.letters);
  return style.month_dot ? name + "." : name;
}

std::string date_text(const CivilTime& time, const DateStyle& style) {
  if (!style.pattern.empty()) return format_pattern(time, style);
  const std::string separator(style.separator == 0 ? 0 : 1, style.separator);
  const std::string year = style.short_year ? fmt::format("{:02}", ((time.year % 100) + 100) % 100)
                                            : fmt::format("{:04}", time.year);
  const std::string month = month_text(time.month, style);
  if (!style.has_day)
    return style.order == DateStyle::month_first ? month + separator + year : year + separator + month;
  const std::string day = fmt::format("{:0{}}", time.day, style.padded ? 2 : 1);
  if (style.order == DateStyle::year_first) return year + separator + month + separator + day;
  const bool month_first = style.order == DateStyle::month_first;
  if (style.month != DateStyle::number && month_first) return month + " " + day + ", " + year;
  return (month_first ? month : day) + separator + (month_first ? day : month) + separator + year;
}

std::string clock_text(const CivilTime& time, const DateStyle& style) {
  const int hour = style.twelve_hours ? (time.hour + 11) % 12 + 1 : time.hour;
  const std::string mark(style.clock_mark == 0 ? 0 : 1, style.clock_mark);
  std::string text = fmt::format("{:0{}}", hour, style.padded_hour ? 2 : 1);
  if (style.clock >= DateStyle::minutes) text += fmt::format("{}{:02}", mark, time.minute);
  if (style.clock >= DateStyle::seconds) text += fmt::format("{}{:02}", mark, time.second);
  if (style.fraction_digits > 0)
    text += style.fraction_mark + std::string(static_cast<size_t>(style.fraction_digits), '0');
  if (style.twelve_hours) {
    const HalfDays& names = kHalfDays[style.half_days];
    text += (style.half_day_space ? " " : "") + std::string(time.hour < 12 ? names.am : names.pm);
  }
  return text;
}

std::string offset_text(const DateStyle& style) {
  if (!style.zone.empty()) return std::string(style.zone);
  const int offset = std::abs(style.offset_minutes);
  const char sign = style.offset_minutes < 0 ? '-' : '+';
  if (style.offset_form == DateStyle::hours_only && offset % 60 == 0)
    return fmt::format("{}{:02}", sign, offset / 60);
  return fmt::format("{}{:02}{}{:02}", sign, offset / 60, style.offset_form == DateStyle::digits ? "" : ":",
                     offset % 60);
}

/// The seconds since the start of the year over those of the year.
std::string decimal_year_text(int64_t seconds, const DateStyle& style) {
  const CivilTime time = to_civil(seconds);
  const int64_t start = to_seconds({time.year, 1, 1}), end = to_seconds({time.year + 1, 1, 1});
  const double middle = style.year_middle ? 0.5 : 0;
  double fraction = 0;
  if (style.year_parts == 12) {
    fraction = (time.month - 1 + middle) / 12;
  } else {
    const auto part = static_cast<double>(style.year_parts == 365 ? kSecondsOfDay : 3600);
    fraction = (static_cast<double>(seconds - start) + middle * part) / static_cast<double>(end - start);
  }
  return fmt::format("{:.{}f}", static_cast<double>(time.year) + fraction, style.year_digits);
}

/// Days since 1899-12-30, of which 1900-03-01 is 61.
std::string excel_text(int64_t seconds) {
  const int64_t since = seconds - to_seconds({1899, 12, 30});
  if (since % kSecondsOfDay == 0) return fmt::format("{}", since / kSecondsOfDay);
  return fmt::format("{:.11g}", static_cast<double>(since) / static_cast<double>(kSecondsOfDay));
}

std::string time_text(int64_t seconds, const DateStyle& style) {
  CivilTime time = to_civil(seconds);
  std::string weekday;
  const bool before_midnight = style.midnight_24 && style.clock != DateStyle::no_clock && time.hour == 0 &&
                               time.minute == 0 && time.second == 0;
  if (before_midnight) {
    time = to_civil(seconds - kSecondsOfDay);
    time.hour = 24;
  }
  if (style.weekday != DateStyle::no_weekday && !pattern_has(style.pattern, "aA"))
    weekday = weekday_name(weekday_of(before_midnight ? seconds - kSecondsOfDay : seconds),
                           style.weekday == DateStyle::full_weekday, style.languages, style.letters) +
              std::string(style.weekday_mark);
  std::string text = weekday + date_text(time, style);
  if (!style.pattern.empty() && pattern_has_clock(style.pattern)) return text;
  if (style.clock != DateStyle::no_clock)
    text += style.clock_separator + std::string(style.clock_separator == ',' ? " " : "") +
            clock_text(time, style);
  return pattern_has(style.pattern, "z") ? text : text + zone_text(style);
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
  return days_from_civil(time.year, time.month, time.day) * kSecondsOfDay + time.hour * 3600 +
         time.minute * 60 + time.second;
}

CivilTime to_civil(int64_t seconds) {
  const int64_t days = seconds / kSecondsOfDay - (seconds % kSecondsOfDay < 0);
  const auto clock = static_cast<int>(seconds - days * kSecondsOfDay);
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

int weekday_of(int64_t seconds) {
  const int64_t days = seconds / kSecondsOfDay - (seconds % kSecondsOfDay < 0);
  return static_cast<int>(((days + 3) % 7 + 7) % 7) + 1;  // 1970-01-01 was a Thursday
}

std::string format_date_time(int64_t seconds, const DateStyle& style) {
  if (style.local && style.has_offset) {
    DateStyle of_time = style;
    const auto utc = style.local->to_utc(seconds);
    const int64_t offset = utc ? seconds - utc->first : style.local->offset_at(seconds);
    of_time.offset_minutes = static_cast<int>(offset / 60);
    of_time.local = nullptr;
    return format_date_time(seconds, of_time);
  }
  switch (style.numbers) {
    case DateStyle::unix_time:
      return fmt::format("{}", seconds * style.epoch);
    case DateStyle::excel_days:
      return excel_text(seconds);
    case DateStyle::decimal_year:
      return decimal_year_text(seconds, style);
    case DateStyle::calendar:
      break;
  }
  const auto local = [&](int64_t at) { return style.local ? style.local->to_local(at) : at; };
  if (style.interval_mark.empty() || style.interval < 0) return time_text(local(seconds), style);
  DateStyle start = style;
  if (style.interval_zone_once) start.has_offset = false;
  const int64_t end = local(seconds + style.interval);
  return time_text(local(seconds), start) + std::string(style.interval_mark) +
         (style.interval_clock_only ? format_clock(end, style) : time_text(end, style));
}

std::string zone_text(const DateStyle& style) {
  if (!style.has_offset) return "";
  const std::string text = offset_text(style);
  if (style.zone_marks == " ()") return " (" + text + ")";
  return std::string(style.zone_marks) + text;
}

std::string format_clock(int64_t seconds, const DateStyle& style) {
  CivilTime time = to_civil(seconds);
  if (style.midnight_24 && time.hour == 0 && time.minute == 0 && time.second == 0) time.hour = 24;
  return clock_text(time, style);
}

std::string DateStyle::text() const {
  if (numbers == unix_time)
    return fmt::format("{}seconds since 1970", epoch == 1          ? ""
                                               : epoch == 1000     ? "milli"
                                               : epoch == 1000'000 ? "micro"
                                                                   : "nano");
  if (numbers == excel_days) return "days since 1899-12-30";
  if (numbers == decimal_year) return "year and its fraction";
  if (!pattern.empty() && pattern_has_clock(pattern)) return pattern;
  const std::string year = short_year ? "yy" : "year";
  const std::string mark(separator == 0 ? 0 : 1, separator);
  std::string result;
  if (!pattern.empty()) {
    result = pattern;
  } else if (quarter) {
    result = year + mark + "quarter";
  } else if (!has_day) {
    result = order == month_first ? "month" + mark + year : year + mark + "month";
  } else if (order == year_first) {
    result = year + mark + "month" + mark + "day";
  } else if (order == month_first) {
    result = "month" + mark + "day" + mark + year;
  } else {
    result = "day" + mark + "month" + mark + year;
  }
  static constexpr std::array<std::string_view, 4> kClocks = {"", "hour", "hour:minute",
                                                              "hour:minute:second"};
  if (weekday != no_weekday && !pattern_has(pattern, "aA"))
    result = "weekday" + std::string(weekday_mark) + result;
  if (clock != no_clock) result += clock_separator + std::string(kClocks[static_cast<size_t>(clock)]);
  if (twelve_hours) result += " AM/PM";
  if (has_offset && !pattern_has(pattern, "z"))
    result += zone.empty() ? "±offset" : std::string(zone_marks == "" ? "" : " ") + std::string(zone);
  return interval_mark.empty() ? result : result + std::string(interval_mark) + "end";
}

}  // namespace modewise::io
