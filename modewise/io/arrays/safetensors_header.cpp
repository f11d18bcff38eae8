#include "modewise/io/arrays/safetensors_header.h"

#include <fmt/format.h>

#include <charconv>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"

namespace modewise::io {

void SafetensorsScanner::wrong(std::string_view what) const {
  fail(ErrorKind::data, "{}: the safetensors header is wrong at byte {}: {}", source_, 8 + at_, what);
}

void SafetensorsScanner::skip_space() {
  while (at_ < header_.size() &&
         (header_[at_] == ' ' || header_[at_] == '\n' || header_[at_] == '\t' || header_[at_] == '\r')) {
    ++at_;
  }
}

bool SafetensorsScanner::take(char c) {
  skip_space();
  if (at_ >= header_.size() || header_[at_] != c) return false;
  ++at_;
  return true;
}

void SafetensorsScanner::expect(char c, std::string_view where) {
  if (!take(c)) wrong(fmt::format("'{}' expected {}", c, where));
}

HeaderString SafetensorsScanner::string() {
  if (!take('"')) wrong("a string expected");
  const size_t begin = at_;
  HeaderString text;
  for (; at_ < header_.size(); ++at_) {
    const char c = header_[at_];
    if (c == '"') {
      text.raw = header_.substr(begin, at_ - begin);
      ++at_;
      return text;
    }
    if (static_cast<unsigned char>(c) < 0x20) wrong("a control character within a string");
    if (c == '\\') {
      text.escaped = true;
      ++at_;
    }
  }
  at_ = begin;
  wrong("the string that begins here does not end");
}

char32_t SafetensorsScanner::hex4(std::string_view digits) const {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4)
    wrong("\\u needs four hexadecimal digits");
  return value;
}

std::string SafetensorsScanner::decode(const HeaderString& text) const {
  if (!text.escaped) return std::string(text.raw);
  std::string decoded;
  for (size_t i = 0; i < text.raw.size(); ++i) {
    if (text.raw[i] != '\\') {
      decoded += text.raw[i];
      continue;
    }
    static constexpr std::string_view kCodes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char code = text.raw[++i];
    if (const size_t known = kCodes.find(code); known != std::string_view::npos) {
      decoded += kMeanings[known];
      continue;
    }
    if (code != 'u') wrong("an unknown escape in a string");
    char32_t unit = hex4(text.raw.substr(i + 1, 4));
    i += 4;
    if (unit >= 0xDC00 && unit <= 0xDFFF) wrong("a low surrogate without its high one");
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      if (text.raw.substr(i + 1, 2) != "\\u") wrong("a high surrogate without its low one");
      const char32_t low = hex4(text.raw.substr(i + 3, 4));
      if (low < 0xDC00 || low > 0xDFFF) wrong("a high surrogate without its low one");
      unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
      i += 6;
    }
    append_utf8(decoded, unit);
  }
  return decoded;
}

uint64_t SafetensorsScanner::number(std::string_view what) {
  skip_space();
  uint64_t value = 0;
  const char* begin = header_.data() + at_;
  const auto [end, error] = std::from_chars(begin, header_.data() + header_.size(), value);
  if (error == std::errc::result_out_of_range) wrong(fmt::format("{} is beyond 64 bits", what));
  if (error != std::errc()) wrong(fmt::format("{} must be an integer that is not negative", what));
  const auto digits = static_cast<size_t>(end - begin);
  if (digits > 1 && *begin == '0') wrong(fmt::format("{} begins with a zero", what));
  at_ += digits;
  if (at_ < header_.size() && (header_[at_] == '.' || header_[at_] == 'e' || header_[at_] == 'E')) {
    wrong(fmt::format("{} must be an integer", what));
  }
  return value;
}

void SafetensorsScanner::expect_padding() {
  while (at_ < header_.size()) {
    if (header_[at_] != ' ') wrong("only spaces may follow the header's object");
    ++at_;
  }
}

}  // namespace modewise::io
