#include "modewise/text/white_space.h"

#include <array>

namespace modewise::text {
namespace {

constexpr std::array<std::string_view, 25> kSpaces = {
    "\t",     "\n",     "\x0B",   "\f",     "\r",     " ",      "\u0085", "\u00A0", "\u1680",
    "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
    "\u2009", "\u200A", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"};

}  // namespace

bool is_white_space(char32_t c) {
  return (c >= 0x9 && c <= 0xD) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

size_t white_space_before(std::string_view text) {
  const size_t whole = text.size();
  for (size_t before = whole + 1; before != text.size();) {
    before = text.size();
    for (const std::string_view space : kSpaces) {
      if (text.ends_with(space)) text.remove_suffix(space.size());
    }
  }
  return whole - text.size();
}

size_t white_space_after(std::string_view text) {
  const size_t whole = text.size();
  for (size_t before = whole + 1; before != text.size();) {
    before = text.size();
    for (const std::string_view space : kSpaces) {
      if (text.starts_with(space)) text.remove_prefix(space.size());
    }
  }
  return whole - text.size();
}

}  // namespace modewise::text
