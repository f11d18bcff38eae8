#pragma once
// Date patterns as of strptime: "%d.%m.%Y %H:%M".
//
// %Y year, %y two-digit year, %m month, %d day, %H hour (0 to 24), %I hour of 12, %M minute, %S second, %f
// fraction of a second, %p AM or PM, %b %B month name, %a %A weekday name, %j day of the year, %q quarter, %o
// half of the year, %G %V %u ISO year, week and weekday, %h hour that ends (1 to 24), %z UTC offset or zone,
// %% a percent sign. A second year, %Y/%y, is the next one: the season or fiscal year 2001/02.
// Numbers may lack leading zeros; "%-d" writes them without.

#include <optional>
#include <string>
#include <string_view>

#include "modewise/io/tables/date_time.h"

namespace modewise::io {

/// "" if `pattern` is valid, else what is wrong with it.
std::string pattern_error(std::string_view pattern);
/// Whether a code of `pattern` is one of `codes`, "aA".
bool pattern_has(std::string_view pattern, std::string_view codes);
bool pattern_has_clock(std::string_view pattern);

/// The pattern of a season or fiscal year of two years, 2001/02 or 2001-2002; "": `text` is none.
std::string_view season_pattern(std::string_view text);

/// Reads a date at the front of `text` and removes it; style.pattern is `pattern`.
std::optional<WrittenDate> read_pattern(std::string_view& text, std::string_view pattern);
/// Writes `time` by style.pattern.
std::string format_pattern(const CivilTime& time, const DateStyle& style);

}  // namespace modewise::io
