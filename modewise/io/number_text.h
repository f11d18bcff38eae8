#pragma once
// Parser of decimal numbers in tables.

#include <string_view>

namespace modewise::io {

std::string_view strip_spaces(std::string_view text);

/// Parses all of `text` as a finite decimal number: surrounding spaces, a sign, digits with one `decimal`
/// mark, an exponent. Rounds to the nearest double. False for anything else, also for inf, nan and 1e999.
bool parse_number(std::string_view text, char decimal, double& value);
/// The same; `marked` says whether the number has the mark.
bool parse_number(std::string_view text, char decimal, double& value, bool& marked);

}  // namespace modewise::io
