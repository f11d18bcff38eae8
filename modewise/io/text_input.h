#pragma once
// What every reader of text checks first.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace modewise::io {

/// The text of a file: its own bytes, or what UTF-16 became in UTF-8.
class TextInput {
 public:
  /// Throws data errors when the file is empty, holds only empty lines, NUL bytes, bytes that are not UTF-8
  /// (with line and byte), broken UTF-16 or more of it than 32 MiB, or is of a kind that is no text, such as
  /// Parquet, which it names with what to do.
  TextInput(std::span<const std::byte> bytes, const std::string& source);

  /// UTF-8 after a byte order mark; valid as long as this object and the bytes live.
  std::string_view text() const { return converted_ ? std::string_view(*converted_) : text_; }

 private:
  std::string_view text_;
  std::optional<std::string> converted_;
};

/// Lines that are not empty: how many rows a table of text can have, but for line ends within quotes.
size_t count_filled_lines(std::string_view text);

}  // namespace modewise::io
