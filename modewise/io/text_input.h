#pragma once
// Encoding checks that all text readers share.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace modewise::io {

/// The text of a file: its bytes, or UTF-16 converted to UTF-8.
class TextInput {
 public:
  /// Throws data errors if the file is empty, has only empty lines, NUL bytes, invalid UTF-8 (with line and
  /// byte), invalid UTF-16 or more than 32 MiB of it, or is a known binary format such as Parquet, which the
  /// error names with a remedy.
  TextInput(std::span<const std::byte> bytes, const std::string& source);

  /// UTF-8 after a byte order mark; valid as long as this object and the bytes live.
  std::string_view text() const { return converted_ ? std::string_view(*converted_) : text_; }

 private:
  std::string_view text_;
  std::optional<std::string> converted_;
};

/// Whether every second byte of the first 4096 is often NUL, and the others rarely, as in UTF-16 of European
/// languages without a byte order mark.
bool looks_like_utf16(std::string_view text);
/// Whether the bytes begin with a byte order mark of UTF-16.
bool is_utf16(std::string_view bytes);
/// Converts UTF-16 with a byte order mark. Throws data errors that name `source` for invalid UTF-16 and more
/// than 32 MiB.
std::string utf8_of_utf16(std::string_view bytes, const std::string& source);

/// Number of non-empty lines, the maximum number of rows of a table.
size_t count_filled_lines(std::string_view text);

}  // namespace modewise::io
