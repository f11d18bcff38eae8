// Translation from Oniguruma's syntax (Ruby, UTF-8) to PCRE2: the constructs that differ, and the callouts
// that count the steps of a search.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"
#include "modewise/text/split_pattern.h"

namespace modewise::text {
namespace {

constexpr std::string_view kWord = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";

class Rewriter {
 public:
  Rewriter(std::string_view pattern, const std::string& source) : pattern_(pattern), source_(source) {}

  std::string rewrite() {
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '\\') {
        escape();
      } else if (in_class_) {
        within_class(c);
      } else if (c == '[') {
        open_class();
      } else if (c == '(') {
        group();
      } else if (c == '{') {
        interval();
      } else if (is_repeat(c)) {
        take(1);
        if (follows("?") || follows("+")) take(1);
        count_here();
      } else if (c == ')') {
        take(1);
        count_here();
      } else {
        take(1);
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail(ErrorKind::data, "{}: unsupported pattern {} at its byte {}: {}", source_,
         io::quote_for_message(pattern_, 200), at_, what);
  }
  bool follows(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  void take(size_t bytes) {
    out_ += pattern_.substr(at_, bytes);
    at_ += bytes;
  }
  void put(std::string_view instead, size_t bytes) {
    out_ += instead;
    at_ += bytes;
  }

  static bool is_repeat(char c) { return c == '*' || c == '+' || c == '?'; }

  // Adds a callout after a repeat or group, but not between a group and its own repeat.
  void count_here() {
    const char next = at_ < pattern_.size() ? pattern_[at_] : ' ';
    if (!is_repeat(next) && next != '{') out_ += "(?C)";
  }

  void open_class() {
    in_class_ = true;
    take(1);
    if (follows("^")) take(1);
    if (follows("]")) refuse("an empty class, or ']' as its first character: write \\]");
  }

  void within_class(char c) {
    if (c == '[') refuse("a nested class");
    if (follows("&&")) refuse("an intersection of classes");
    if (c == ']') in_class_ = false;
    take(1);
  }

  void group() {
    static constexpr std::array<std::string_view, 9> kKnown = {"(?:", "(?=",  "(?!",  "(?<=", "(?<!",
                                                               "(?>", "(?i:", "(?i)", "(?-i:"};
    if (!follows("(?")) {
      if (follows("(*")) refuse("a verb of PCRE2");
      take(1);
      return;
    }
    for (const std::string_view known : kKnown) {
      if (follows(known)) {
        take(known.size());
        return;
      }
    }
    refuse("a group of an unknown kind");
  }

  // {2}, {2,}, {,3}, {2,3}: in Ruby's syntax a '+' after them is another repeat, not possessive.
  void interval() {
    const size_t close = pattern_.find('}', at_);
    if (close == std::string_view::npos) refuse("'{' without '}'; write \\{ for the character");
    const std::string_view inside = pattern_.substr(at_ + 1, close - at_ - 1);
    if (inside.empty() || inside.find_first_not_of("0123456789,") != std::string_view::npos ||
        inside == "," || std::count(inside.begin(), inside.end(), ',') > 1)
      refuse("'{' without a repeat count; write \\{ for the character");
    if (close + 1 < pattern_.size() && pattern_[close + 1] == '+')
      refuse("'+' after a repeat count, which engines interpret differently");
    if (inside.front() == ',')
      put("{0" + std::string(inside) + "}", inside.size() + 2);
    else
      take(inside.size() + 2);
    if (follows("?")) take(1);
    count_here();
  }

  void escape() {
    if (at_ + 1 == pattern_.size()) refuse("a '\\' at the end");
    const char c = pattern_[at_ + 1];
    switch (c) {
      case 's':
        return put("\\p{White_Space}", 2);
      case 'S':
        return put("\\P{White_Space}", 2);
      case 'd':
        return put("\\p{Nd}", 2);
      case 'D':
        return put("\\P{Nd}", 2);
      case 'w':
        return put(in_class_ ? std::string(kWord) : fmt::format("[{}]", kWord), 2);
      case 'W':
        if (in_class_) refuse("\\W in a class");
        return put(fmt::format("[^{}]", kWord), 2);
      case 'v':
        return put("\\x0B", 2);
      case 'u': {
        const std::string_view digits = pattern_.substr(at_ + 2, 4);
        if (digits.size() != 4 ||
            digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
          refuse("\\u needs four hexadecimal digits");
        return put(fmt::format("\\x{{{}}}", digits), 6);
      }
      case 'p':
      case 'P': {
        const size_t close = pattern_.find('}', at_);
        if (!pattern_.substr(at_ + 2).starts_with("{") || close == std::string_view::npos)
          refuse("\\p needs a {name}");
        return take(close + 1 - at_);
      }
      case 'x': {
        if (pattern_.substr(at_ + 2).starts_with("{")) {
          const size_t close = pattern_.find('}', at_);
          if (close == std::string_view::npos) refuse("\\x{ without '}'");
          return take(close + 1 - at_);
        }
        return take(2);
      }
      case 'n':
      case 'r':
      case 't':
      case 'f':
      case 'a':
      case 'e':
      case 'A':
      case 'z':
        return take(2);
      default:
        break;
    }
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      refuse(fmt::format("\\{}, which engines interpret differently or do not support", c));
    take(2);
  }

  std::string_view pattern_;
  const std::string& source_;
  std::string out_;
  size_t at_ = 0;
  bool in_class_ = false;
};

}  // namespace

std::string pattern_for_pcre2(std::string_view pattern, const std::string& source) {
  return Rewriter(pattern, source).rewrite();
}

}  // namespace modewise::text
