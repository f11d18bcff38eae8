#include "modewise/report/markup.h"

#include <algorithm>
#include <cstdint>

#include "modewise/core/escaped_text.h"
#include "modewise/core/utf8.h"

namespace modewise::report {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Removes one code point from the front of `text`; U+FFFD for an invalid byte.
char32_t take_code_point(std::string_view& text) {
  const size_t length = utf8_length(text);
  const char32_t point = length == 0 ? kReplacement : utf8_code_point(text.substr(0, length));
  text.remove_prefix(std::max<size_t>(length, 1));
  return point;
}

bool is_white_space(char32_t point) {
  return point == '\t' || point == '\n' || point == '\r';
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
        append_utf8(out, is_unsafe(point) && !is_white_space(point) ? kReplacement : point);
    }
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t j = 0; j < 3; ++j)
      word = (word << 8) | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    const size_t kept = std::min<size_t>(3, bytes.size() - i) + 1;
    for (size_t j = 0; j < 4; ++j) out.push_back(j < kept ? alphabet[(word >> (18 - 6 * j)) & 63] : '=');
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return is_white_space(static_cast<unsigned char>(c)); }, ' ');
  return escape_text(line);
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
