#pragma once
// Names of columns that say time, in several languages.

#include <string>
#include <string_view>
#include <vector>

namespace modewise::io {

enum class TimeName {
  none,
  part,   // one word of it: response_time, ObservationDate2, year
  whole,  // all words: timestamp, date_utc, MESS_DATUM, ds
};
TimeName time_name(std::string_view name);

/// Whether the name says hour of the day: hour, hr, Hr_End, HourEnding, HH, Stunde.
bool names_hours(std::string_view name);
/// Whether the name says clock time: Time, Uhrzeit, hora, hours …
bool names_clock(std::string_view name);
/// Whether the name says a numbered part of the day: period, interval, minute_of_day.
bool names_day_parts(std::string_view name);

/// Whether the name says week: week, KW, year_week, semaine.
bool names_weeks(std::string_view name);

/// Words in lower case; capitals after small letters, digits and marks begin a word: "ObsDate_utc2" → obs,
/// date, utc.
std::vector<std::string> name_words(std::string_view name);

}  // namespace modewise::io
