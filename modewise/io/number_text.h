#pragma once
// Decimal numbers as tables write them.

#include <string_view>

namespace modewise::io {

std::string_view strip_spaces(std::string_view text);

/// Reads all of `text` as a finite decimal number: spaces around it, a leading + or -, digits with one
/// `decimal` mark, an exponent. Rounded to the nearest double. False for anything else, also for inf, nan and
/// 1e999.
bool parse_number(std::string_view text, char decimal, double& value);

}  // namespace modewise::io
