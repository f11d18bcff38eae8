#pragma once
// Characters of ASCII, whatever the locale.

#include <string>
#include <string_view>

namespace modewise::io {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
/// `text` with the letters A to Z in lower case.
inline std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

}  // namespace modewise::io
