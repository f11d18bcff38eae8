#pragma once
// Numbers as people write them in tables: 1,234.5, 1 234,5, −0.61%, $5, 68.18K, (1,234), 5-.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace modewise::io {

struct NumberFormat {
  char decimal = '.';
  char thousands = 0;  // 0: none; ' ': any kind of space; '\'': either kind of apostrophe
  bool operator==(const NumberFormat&) const = default;
};

/// All formats, those without a thousands mark first.
inline constexpr std::array<NumberFormat, 8> kNumberFormats = {
    {{'.', 0}, {',', 0}, {'.', ','}, {',', '.'}, {'.', ' '}, {',', ' '}, {'.', '\''}, {',', '\''}}};

/// A set of formats: bit i is kNumberFormats[i].
using FormatSet = uint8_t;
inline constexpr FormatSet kAllFormats = 0xFF;

FormatSet formats_with_decimal(char decimal);
FormatSet formats_with_thousands(char thousands);

/// A text as a number.
struct WrittenNumber {
  FormatSet formats = 0;    // in which it is a number; 0: it is none
  bool marked = false;      // with a point or comma
  bool percent = false;     // 5%
  char magnitude = 0;       // K, M, B
  bool accounting = false;  // (5)
  bool trailing_minus = false;
  bool unicode_minus = false;
  std::string_view currency;  // "$", "€" …; of static storage
};

/// Groups are of three digits, the first one of one to three digits that do not begin with 0.
WrittenNumber read_written_number(std::string_view text);

/// The finite value in a format: −0.61% is −0.61, 68.18K is 68180. False if `text` is not a number in it.
bool parse_written_number(std::string_view text, NumberFormat format, double& value);

/// Whether the mark at `at` in a plain number could also group its thousands: 1.737, but not 0.125 or 1.5.
bool could_group(std::string_view number, size_t at);

/// The number before a flag of statistics or a footnote mark: 12.5 p, 12.5 (p), 12.5*, 12.5[1]; "" for other
/// texts.
std::string_view without_flag(std::string_view text);

/// The letters and signs behind a number such as 12.5 kWh or 12.5°C; "" for other texts and for ordinals
/// (1st).
std::string_view unit_behind(std::string_view text);

/// Whether a text in a column of numbers can only be a missing value: ?, ., -, --, n/a, #DIV/0! ….
bool is_missing_mark(std::string_view text);

}  // namespace modewise::io
