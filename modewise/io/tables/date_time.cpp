#include "modewise/io/tables/date_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "modewise/io/tables/month_names.h"

namespace modewise::io {
namespace {

constexpr int64_t kDay = 86400;

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
  std::string name(
      kMonthNames[static_cast<size_t>(month - 1)].substr(0, style.month == DateStyle::short_name ? 3 : 9));
  if (style.capitals)
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
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

std::string format_date_time(int64_t seconds, const DateStyle& style) {
  if (style.epoch != 0) return fmt::format("{}", seconds * style.epoch);
  const CivilTime time = to_civil(seconds);
  const int width = style.padded ? 2 : 1;
  const std::string separator(style.separator == 0 ? 0 : 1, style.separator);
  const std::string year = style.short_year ? fmt::format("{:02}", ((time.year % 100) + 100) % 100)
                                            : fmt::format("{:04}", time.year);
  const std::string month = month_text(time.month, style);
  const std::string day = fmt::format("{:0{}}", time.day, width);
  std::string text;
  if (!style.has_day) {
    text = style.order == DateStyle::month_first ? month + separator + year : year + separator + month;
  } else if (style.order == DateStyle::year_first) {
    text = year + separator + month + separator + day;
  } else if (style.month != DateStyle::number && style.order == DateStyle::month_first) {
    text = month + " " + day + ", " + year;
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
  if (epoch != 0) return epoch == 1 ? "seconds since 1970" : "milliseconds since 1970";
  const std::string year = short_year ? "yy" : "year";
  const std::string mark(separator == 0 ? 0 : 1, separator);
  std::string result;
  if (quarter) {
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
  if (clock != no_clock) result += clock_separator + std::string(kClocks[static_cast<size_t>(clock)]);
  if (twelve_hours) result += " AM/PM";
  if (has_offset) result += zulu ? "Z" : "±offset";
  return result;
}

}  // namespace modewise::io
