#include "modewise/io/text_input.h"

#include <algorithm>
#include <cstdint>

#include "modewise/core/error.h"
#include "modewise/io/file_kind.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

int64_t line_of(std::string_view text, size_t offset) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(offset), '\n');
}

constexpr size_t kMaxUtf16 = size_t{32} << 20;  // bytes; the converted text fits into 64 MiB

void check_characters(std::string_view text, const std::string& source) {
  require(!looks_like_utf16(text), ErrorKind::data,
          "{}: the file seems to be UTF-16 without a byte order mark; save it as UTF-8", source);
  const size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    fail(ErrorKind::data, "{}:{}: NUL at byte {}: not a text file", source, line_of(text, nul), nul);
  }
  const size_t invalid = find_invalid_utf8(text);
  if (invalid != std::string_view::npos) {
    fail(ErrorKind::data, "{}:{}: byte {} (0x{:02x}) is not UTF-8; save the file as UTF-8", source,
         line_of(text, invalid), invalid, static_cast<unsigned char>(text[invalid]));
  }
  const size_t content = text.find_first_not_of("\r\n \t");
  require(content != std::string_view::npos, ErrorKind::data, "{}: the file has only empty lines", source);
}

}  // namespace

bool looks_like_utf16(std::string_view text) {
  const std::string_view sample = text.substr(0, 4096);
  size_t zeros[2] = {0, 0};
  for (size_t i = 0; i < sample.size(); ++i) zeros[i % 2] += sample[i] == '\0' ? 1 : 0;
  return 4 * std::max(zeros[0], zeros[1]) > sample.size() &&
         16 * std::min(zeros[0], zeros[1]) <= sample.size();
}

bool is_utf16(std::string_view bytes) {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

std::string utf8_of_utf16(std::string_view bytes, const std::string& source) {
  require(bytes.size() <= kMaxUtf16, ErrorKind::data,
          "{}: the file has {} bytes of UTF-16, the limit is {}; save it as UTF-8", source, bytes.size(),
          kMaxUtf16);
  const bool little = bytes[0] == '\xFF';
  const auto unit = [&](size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]),
               second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<char32_t>(little ? first | second << 8 : first << 8 | second);
  };
  const auto is_high = [](char32_t c) { return c >= 0xD800 && c < 0xDC00; };
  const auto is_low = [](char32_t c) { return c >= 0xDC00 && c < 0xE000; };
  require(bytes.size() % 2 == 0, ErrorKind::data, "{}: UTF-16 ends within a character, at byte {}", source,
          bytes.size());
  std::string out;
  out.reserve(bytes.size() / 2);
  for (size_t at = 2; at < bytes.size(); at += 2) {
    char32_t c = unit(at);
    const bool pair = is_high(c) && at + 3 < bytes.size() && is_low(unit(at + 2));
    require(pair || !(is_high(c) || is_low(c)), ErrorKind::data, "{}: unpaired UTF-16 surrogate at byte {}",
            source, at);
    if (pair) {
      at += 2;
      c = 0x10000 + ((c - 0xD800) << 10) + (unit(at) - 0xDC00);
    }
    append_utf8(out, c);
  }
  return out;
}

TextInput::TextInput(std::span<const std::byte> bytes, const std::string& source)
    : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {
  require(!text_.empty(), ErrorKind::data, "{}: the file is empty", source);
  const FileKind kind = file_kind(bytes);
  require(kind.name.empty(), ErrorKind::data, "{}: expected text, got {}{}{}", source, kind.name,
          kind.remedy.empty() ? "" : "; ", kind.remedy);
  if (is_utf16(text_)) converted_ = utf8_of_utf16(text_, source);
  text_ = without_byte_order_mark(text_);
  check_characters(text(), source);
}

size_t count_filled_lines(std::string_view text) {
  const auto is_end = [](char c) { return c == '\n' || c == '\r'; };
  size_t lines = text.empty() || is_end(text[0]) ? 0 : 1;
  for (size_t i = 1; i < text.size(); ++i) lines += is_end(text[i - 1]) && !is_end(text[i]);
  return lines;
}

}  // namespace modewise::io
