#include "modewise/io/text_input.h"

#include <algorithm>
#include <cstdint>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

int64_t line_of(std::string_view text, size_t offset) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(offset), '\n');
}

}  // namespace

std::string_view checked_text(std::span<const std::byte> bytes, const std::string& source) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  require(!text.empty(), ErrorKind::data, "{}: the file is empty", source);
  require(!text.starts_with("\xFF\xFE") && !text.starts_with("\xFE\xFF"), ErrorKind::data,
          "{}: the file is written in UTF-16; save it as UTF-8", source);
  const size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    fail(ErrorKind::data, "{}:{}: a NUL byte at byte {}: this is not a text file", source, line_of(text, nul),
         nul);
  }
  const size_t invalid = find_invalid_utf8(text);
  if (invalid != std::string_view::npos) {
    fail(ErrorKind::data, "{}:{}: byte {} (0x{:02x}) is not UTF-8; save the file as UTF-8", source,
         line_of(text, invalid), invalid, static_cast<unsigned char>(text[invalid]));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const size_t content = text.find_first_not_of("\r\n \t");
  require(content != std::string_view::npos, ErrorKind::data, "{}: the file holds nothing but empty lines",
          source);
  return text;
}

size_t count_filled_lines(std::string_view text) {
  const auto is_end = [](char c) { return c == '\n' || c == '\r'; };
  size_t lines = text.empty() || is_end(text[0]) ? 0 : 1;
  for (size_t i = 1; i < text.size(); ++i) lines += is_end(text[i - 1]) && !is_end(text[i]);
  return lines;
}

}  // namespace modewise::io
