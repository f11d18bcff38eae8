#include "modewise/report/markup.h"

#include <cstdint>

namespace modewise::report {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Takes one code point off the front of `text`; U+FFFD for a byte that starts none (overlong forms,
// surrogates and values beyond U+10FFFF included).
char32_t take_code_point(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  const int length = first < 0x80   ? 1
                     : first < 0xC2 ? 0
                     : first < 0xE0 ? 2
                     : first < 0xF0 ? 3
                     : first < 0xF5 ? 4
                                    : 0;
  if (length == 0 || text.size() < static_cast<size_t>(length)) {
    text.remove_prefix(1);
    return kReplacement;
  }
  char32_t point = length == 1 ? first : first & (0x7F >> length);
  for (int i = 1; i < length; ++i) {
    if ((byte(static_cast<size_t>(i)) & 0xC0) != 0x80) {
      text.remove_prefix(1);
      return kReplacement;
    }
    point = (point << 6) | (byte(static_cast<size_t>(i)) & 0x3F);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  if (overlong || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
    text.remove_prefix(1);
    return kReplacement;
  }
  text.remove_prefix(static_cast<size_t>(length));
  return point;
}

void append_utf8(std::string& out, char32_t point) {
  const auto put = [&](char32_t value) { out.push_back(static_cast<char>(value)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | (point >> 6));
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3F));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

// Characters that XML 1.0 may not hold, and those that would turn the reading direction of the page.
bool is_forbidden(char32_t point) {
  const bool control =
      (point < 0x20 && point != '\t' && point != '\n' && point != '\r') || (point >= 0x7F && point < 0xA0);
  const bool direction = (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
  return control || direction || point == 0xFFFE || point == 0xFFFF;
}

bool is_zero_width(char32_t point) {
  return (point >= 0x300 && point <= 0x36F) || (point >= 0x200B && point <= 0x200F) ||
         (point >= 0xFE00 && point <= 0xFE0F);
}

bool is_wide(char32_t point) {
  return (point >= 0x1100 && point <= 0x115F) || (point >= 0x2E80 && point <= 0xA4CF) ||
         (point >= 0xAC00 && point <= 0xD7A3) || (point >= 0xF900 && point <= 0xFAFF) ||
         (point >= 0xFE30 && point <= 0xFE6F) || (point >= 0xFF00 && point <= 0xFF60) ||
         (point >= 0x1F300 && point <= 0x1FAFF) || (point >= 0x20000 && point <= 0x3FFFD);
}

// Widths in Helvetica and its metric relatives, in thousandths of the font size, by class of letter.
double relative_width(char32_t point) {
  if (is_zero_width(point)) return 0;
  if (is_wide(point)) return 1.0;
  if (point >= 0x80) return 0.6;
  switch (static_cast<char>(point)) {
    case 'i':
    case 'j':
    case 'l':
    case '\'':
    case '|':
      return 0.23;
    case 'f':
    case 't':
    case 'r':
    case 'I':
    case ' ':
    case '.':
    case ',':
    case ':':
    case ';':
    case '!':
    case '/':
    case '(':
    case ')':
    case '[':
    case ']':
      return 0.32;
    case 'm':
    case 'w':
    case 'M':
    case 'W':
    case '%':
    case '@':
      return 0.88;
    default:
      break;
  }
  if (point >= 'A' && point <= 'Z') return 0.70;
  return 0.56;
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    const char32_t point = take_code_point(text);
    switch (point) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        append_utf8(out, is_forbidden(point) ? kReplacement : point);
    }
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const char32_t point = take_code_point(text);
    const bool space = point == '\t' || point == '\n' || point == '\r';
    append_utf8(out, space ? U' ' : is_forbidden(point) ? kReplacement : point);
  }
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const char32_t point = take_code_point(text);
    width += is_zero_width(point) ? 0 : is_wide(point) ? 2 : 1;
  }
  return width;
}

double text_width(std::string_view text, double size) {
  double width = 0;
  while (!text.empty()) width += relative_width(take_code_point(text));
  return width * size;
}

std::string shorten(std::string_view text, int characters) {
  std::string out, last;
  int taken = 0;
  while (!text.empty()) {
    if (taken == characters) return last + "…";
    if (taken == characters - 1) last = out;
    append_utf8(out, take_code_point(text));
    ++taken;
  }
  return out;
}

}  // namespace modewise::report
