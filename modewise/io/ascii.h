#pragma once
// Characters of ASCII, whatever the locale.

namespace modewise::io {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace modewise::io
