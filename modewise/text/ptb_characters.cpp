#include "modewise/text/ptb_characters.h"

#include <array>

#include "modewise/io/utf8.h"

namespace modewise::text {
namespace {

struct Range {
  char32_t first, last;
  PtbKind kind;
};

/// Non-ASCII characters that are not letters; ranges in ascending order.
constexpr std::array kRanges = {
    Range{0x80, 0x9F, PtbKind::space},           // controls
    Range{0xA0, 0xA0, PtbKind::space},           //
    Range{0xA1, 0xA9, PtbKind::symbol},          // ¡ ¢ £ … ©
    Range{0xAB, 0xAB, PtbKind::mark},            // «
    Range{0xAC, 0xAC, PtbKind::symbol},          //
    Range{0xAD, 0xAD, PtbKind::space},           // soft hyphen
    Range{0xAE, 0xB4, PtbKind::symbol},          // ® ¯ ° ± ² ³ ´
    Range{0xB6, 0xB9, PtbKind::symbol},          //
    Range{0xBB, 0xBB, PtbKind::mark},            // »
    Range{0xBC, 0xBF, PtbKind::symbol},          // ¼ ½ ¾ ¿
    Range{0xD7, 0xD7, PtbKind::symbol},          // ×
    Range{0xF7, 0xF7, PtbKind::symbol},          // ÷
    Range{0x1680, 0x1680, PtbKind::space},       //
    Range{0x2000, 0x200A, PtbKind::space},       //
    Range{0x200B, 0x200F, PtbKind::space},       // zero width
    Range{0x2010, 0x2011, PtbKind::hyphen},      //
    Range{0x2012, 0x2012, PtbKind::mark},        //
    Range{0x2013, 0x2015, PtbKind::mark},        // – —
    Range{0x2016, 0x2017, PtbKind::symbol},      //
    Range{0x2018, 0x2018, PtbKind::mark},        // ‘
    Range{0x2019, 0x2019, PtbKind::apostrophe},  // ’
    Range{0x201A, 0x201F, PtbKind::mark},        // “ ” „
    Range{0x2020, 0x2025, PtbKind::symbol},      // † ‡ •
    Range{0x2026, 0x2026, PtbKind::mark},        // …
    Range{0x2028, 0x2029, PtbKind::space},       //
    Range{0x202A, 0x202E, PtbKind::space},       //
    Range{0x202F, 0x202F, PtbKind::space},       //
    Range{0x2030, 0x2038, PtbKind::symbol},      //
    Range{0x2039, 0x203A, PtbKind::mark},        // ‹ ›
    Range{0x203B, 0x205E, PtbKind::symbol},      //
    Range{0x205F, 0x205F, PtbKind::space},       //
    Range{0x2060, 0x206F, PtbKind::space},       //
    Range{0x2070, 0x2BFF, PtbKind::symbol},      // superscripts, currencies, arrows, mathematics, dingbats
    Range{0x3000, 0x3000, PtbKind::space},       //
    Range{0x3001, 0x3001, PtbKind::mark},        //
    Range{0x3002, 0x3020, PtbKind::symbol},      //
    Range{0xFE00, 0xFE0F, PtbKind::space},       // variation selectors
    Range{0xFEFF, 0xFEFF, PtbKind::space},       // byte order mark
    Range{0xFF01, 0xFF0F, PtbKind::symbol},      //
    Range{0x10000, 0x10FFFF, PtbKind::space},    // emoji; dropped
};

PtbKind ascii_kind(char c) {
  if (is_ascii_letter(c)) return PtbKind::letter;
  if (io::is_digit(c)) return PtbKind::digit;
  if (c == '\'') return PtbKind::apostrophe;
  if (c <= ' ' || c == '\x7F') return PtbKind::space;
  if (c == '-' || c == '_') return PtbKind::hyphen;
  return std::string_view("\"`.,;:").find(c) != std::string_view::npos ? PtbKind::mark : PtbKind::symbol;
}

PtbKind wide_kind(char32_t point) {
  for (const Range& range : kRanges)
    if (point >= range.first && point <= range.last) return range.kind;
  return PtbKind::letter;
}

/// `text` begins with a valid character of `bytes` bytes, at least two.
char32_t decode(std::string_view text, size_t bytes) {
  char32_t point = static_cast<unsigned char>(text[0]) & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  return point;
}

char32_t lower_letter(char32_t point) {
  const bool latin_pairs = (point >= 0x100 && point < 0x130) || (point >= 0x132 && point < 0x138) ||
                           (point >= 0x14A && point < 0x178) || (point >= 0x1E00 && point < 0x1E96) ||
                           (point >= 0x1EA0 && point < 0x1F00) || (point >= 0x460 && point < 0x482);
  if (latin_pairs) return point | 1;
  if ((point >= 0x139 && point < 0x149) || (point >= 0x179 && point < 0x17F)) return point + (point & 1);
  if (point == 0x178) return 0xFF;  // Ÿ
  if (point >= 0xC0 && point < 0xDF && point != 0xD7) return point + 32;
  if (point >= 0x391 && point < 0x3AA && point != 0x3A2) return point + 32;
  if (point >= 0x410 && point < 0x430) return point + 32;
  if (point >= 0x400 && point < 0x410) return point + 80;
  return point;
}

}  // namespace

PtbCharacter ptb_character(std::string_view text) {
  if (static_cast<unsigned char>(text[0]) < 0x80) return {ascii_kind(text[0]), 1};
  const size_t bytes = io::utf8_length(text);
  if (bytes == 0) return {PtbKind::space, 1};
  return {wide_kind(decode(text, bytes)), bytes};
}

std::string ptb_lower_case(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = static_cast<unsigned char>(text[at]) < 0x80 ? 1 : io::utf8_length(text.substr(at));
    if (bytes <= 1)
      lower += io::to_lower(text[at]);
    else
      io::append_utf8(lower, lower_letter(decode(text.substr(at), bytes)));
    at += bytes > 0 ? bytes : 1;
  }
  return lower;
}

}  // namespace modewise::text
