#include "modewise/io/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "modewise/io/ascii.h"

namespace modewise::io {
namespace {

constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// For any length and magnitude; `text` has the decimal mark '.' and no leading '+'.
bool parse_long_number(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return false;
  if (error == std::errc()) return std::isfinite(value);
  if (error != std::errc::result_out_of_range) return false;
  // from_chars has the same error for 1e-999, which is 0, and 1e999, which is not a number here.
  value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(value);
}

}  // namespace

std::string_view strip_spaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool parse_number(std::string_view text, char decimal, double& value) {
  bool marked;
  return parse_number(text, decimal, value, marked);
}

bool parse_number(std::string_view text, char decimal, double& value, bool& marked) {
  text = strip_spaces(text);
  marked = false;
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return false;
  }
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;

  // Up to 19 digits fit 64 bits; a mantissa below 2^53 times or over an exact power of ten rounds correctly.
  uint64_t mantissa = 0;
  const char* const digits = at;
  while (at != end && is_digit(*at)) mantissa = mantissa * 10 + static_cast<uint64_t>(*at++ - '0');
  int64_t count = at - digits, fraction = 0;
  marked = at != end && *at == decimal;
  if (marked) {
    const char* const begin = ++at;
    while (at != end && is_digit(*at)) mantissa = mantissa * 10 + static_cast<uint64_t>(*at++ - '0');
    fraction = at - begin;
    count += fraction;
  }
  if (count == 0) return false;
  if (at == end && count <= 19 && mantissa <= (uint64_t{1} << 53) && fraction <= 22) {
    const double magnitude = static_cast<double>(mantissa) / kPowers[fraction];
    value = negative ? -magnitude : magnitude;
    return true;
  }
  if (at != end && *at != 'e' && *at != 'E') return false;
  if (decimal == '.') return parse_long_number(text, value);
  // There is no point before the exponent, and none after it is valid.
  std::string pointed(text);
  std::replace(pointed.begin(), pointed.end(), decimal, '.');
  return parse_long_number(pointed, value);
}

}  // namespace modewise::io
