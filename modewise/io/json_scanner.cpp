#include "modewise/io/json_scanner.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/io/ascii.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

constexpr size_t kDeepest = 512;

}  // namespace

void JsonScanner::wrong_at(size_t at, std::string_view what) const {
  fail(ErrorKind::data, "{}: the {} is wrong at byte {}: {}", *source_, format_, first_ + at, what);
}

void JsonScanner::skip_space() {
  while (at_ < json_.size() &&
         (json_[at_] == ' ' || json_[at_] == '\n' || json_[at_] == '\t' || json_[at_] == '\r')) {
    ++at_;
  }
}

size_t JsonScanner::position() {
  skip_space();
  return at_;
}

bool JsonScanner::take(char c) {
  skip_space();
  if (at_ >= json_.size() || json_[at_] != c) return false;
  ++at_;
  return true;
}

void JsonScanner::expect(char c, std::string_view where) {
  if (!take(c)) wrong(fmt::format("'{}' expected {}", c, where));
}

bool JsonScanner::take_word(std::string_view word) {
  skip_space();
  if (!json_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

bool JsonScanner::take_null() {
  return take_word("null");
}

bool JsonScanner::boolean() {
  if (take_word("true")) return true;
  if (take_word("false")) return false;
  wrong("true or false expected");
}

JsonScanner::Text JsonScanner::string() {
  if (!take('"')) wrong("a string expected");
  Text text;
  text.at = at_;
  for (; at_ < json_.size(); ++at_) {
    const char c = json_[at_];
    if (c == '"') {
      text.raw = json_.substr(text.at, at_ - text.at);
      ++at_;
      return text;
    }
    if (static_cast<unsigned char>(c) < 0x20) wrong_at(at_, "a control character within a string");
    if (c == '\\') {
      text.escaped = true;
      ++at_;
    }
  }
  wrong_at(text.at, "the string that begins here is not closed");
}

char32_t JsonScanner::hex4(const Text& text, size_t at) const {
  const std::string_view digits = text.raw.substr(std::min(at, text.raw.size()), 4);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4)
    wrong_at(text.at + at, "\\u needs four hexadecimal digits");
  return value;
}

std::string JsonScanner::decode(const Text& text) const {
  if (!text.escaped) return std::string(text.raw);
  static constexpr std::string_view kCodes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  std::string decoded;
  decoded.reserve(text.raw.size());
  for (size_t i = 0; i < text.raw.size(); ++i) {
    if (text.raw[i] != '\\') {
      decoded += text.raw[i];
      continue;
    }
    const char code = text.raw[++i];  // a string never ends inside an escape
    if (const size_t meaning = kCodes.find(code); meaning != std::string_view::npos) {
      decoded += kMeanings[meaning];
      continue;
    }
    if (code != 'u') wrong_at(text.at + i, "an unknown escape within a string");
    char32_t point = hex4(text, i + 1);
    i += 4;
    if (point >= 0xDC00 && point < 0xE000) wrong_at(text.at + i, "a low surrogate without its high one");
    if (point >= 0xD800 && point < 0xDC00) {
      const bool follows = text.raw.substr(i + 1).starts_with("\\u");
      const char32_t low = follows ? hex4(text, i + 3) : 0;
      if (low < 0xDC00 || low >= 0xE000) wrong_at(text.at + i, "a high surrogate without its low one");
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
      i += 6;
    }
    append_utf8(decoded, point);
  }
  return decoded;
}

double JsonScanner::number() {
  skip_space();
  const size_t begin = at_;
  const auto digits = [&] {
    if (at_ >= json_.size() || !is_digit(json_[at_])) wrong_at(begin, "a number expected");
    while (at_ < json_.size() && is_digit(json_[at_])) ++at_;
  };
  const auto at = [&](char c) { return at_ < json_.size() && json_[at_] == c; };
  if (at('-')) ++at_;
  if (at('0'))
    ++at_;
  else
    digits();
  if (at('.')) {
    ++at_;
    digits();
  }
  if (at('e') || at('E')) {
    ++at_;
    if (at('+') || at('-')) ++at_;
    digits();
  }
  double value = 0;
  const auto [end, error] = std::from_chars(json_.data() + begin, json_.data() + at_, value);
  if (error == std::errc::result_out_of_range) wrong_at(begin, "a number beyond 64 bits");
  return value;
}

int64_t JsonScanner::integer(std::string_view what) {
  const size_t begin = position();
  const double value = number();
  if (value != std::floor(value) || std::abs(value) > 0x1p53)
    wrong_at(begin, fmt::format("{} must be an integer", what));
  return static_cast<int64_t>(value);
}

uint64_t JsonScanner::natural(std::string_view what) {
  skip_space();
  uint64_t value = 0;
  const char* begin = json_.data() + at_;
  const auto [end, error] = std::from_chars(begin, json_.data() + json_.size(), value);
  if (error == std::errc::result_out_of_range) wrong(fmt::format("{} is beyond 64 bits", what));
  if (error != std::errc()) wrong(fmt::format("{} must be a non-negative integer", what));
  const auto digits = static_cast<size_t>(end - begin);
  if (digits > 1 && *begin == '0') wrong(fmt::format("{} begins with a zero", what));
  at_ += digits;
  if (at_ < json_.size() && (json_[at_] == '.' || json_[at_] == 'e' || json_[at_] == 'E')) {
    wrong(fmt::format("{} must be an integer", what));
  }
  return value;
}

size_t JsonScanner::skip() {
  std::vector<char> open;  // expected closing brackets
  size_t elements = 0;
  const bool is_array = position() < json_.size() && json_[at_] == '[';
  do {
    // A value, or the opening of one.
    skip_space();
    const char c = at_ < json_.size() ? json_[at_] : '\0';
    if (c == '{' || c == '[') {
      ++at_;
      if (open.size() == kDeepest)
        wrong_at(at_ - 1, fmt::format("values are nested deeper than {}", kDeepest));
      open.push_back(c == '{' ? '}' : ']');
      if (!take(open.back())) {
        if (is_array && open.size() == 1) ++elements;
        if (c == '{') {
          string();
          expect(':', "after a key");
        }
        continue;
      }
      open.pop_back();
    } else if (c == '"') {
      string();
    } else if (!take_null() && !take_word("true") && !take_word("false")) {
      number();
    }
    // After a value: ',' or closing brackets.
    while (!open.empty()) {
      if (take(',')) {
        if (is_array && open.size() == 1) ++elements;
        if (open.back() == '}') {
          string();
          expect(':', "after a key");
        }
        break;
      }
      expect(open.back(), "or ',' after a value");
      open.pop_back();
    }
  } while (!open.empty());
  return elements;
}

void JsonScanner::expect_padding() {
  for (; at_ < json_.size(); ++at_)
    if (json_[at_] != ' ') wrong_at(at_, "only spaces may follow the object");
}

void JsonScanner::expect_end() {
  if (position() != json_.size()) wrong("unexpected text after the end");
}

}  // namespace modewise::io
