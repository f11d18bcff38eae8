#pragma once
// Names of months and weekdays in tables, in the languages of kLanguages.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace modewise::io {

/// Names in lower case; `days` begin with Monday.
struct Language {
  std::string_view code;
  std::array<std::string_view, 12> months, short_months;
  std::array<std::string_view, 7> days, short_days;
};

inline constexpr size_t kLanguageCount = 9;
/// English first.
extern const std::array<Language, kLanguageCount> kLanguages;

enum class Letters : uint8_t { lower, title, capitals };

/// A month or weekday name.
struct CalendarName {
  int number = 1;          // months from 1, weekdays from 1 (Monday)
  bool full = false;       // otherwise abbreviated; names that are both count as abbreviated
  uint16_t languages = 1;  // bit i: kLanguages[i] writes the name in this way
  Letters letters = Letters::title;
};

/// The month of a full name or an abbreviation, also of usual other spellings (Sept, Mrz, Maerz, fevrier);
/// case-insensitive.
std::optional<CalendarName> find_month(std::string_view name);
std::optional<CalendarName> find_weekday(std::string_view name);

/// The name in the first language of `languages`.
std::string month_name(int month, bool full, uint16_t languages, Letters letters);
std::string weekday_name(int day, bool full, uint16_t languages, Letters letters);

}  // namespace modewise::io
