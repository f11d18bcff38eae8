#include "modewise/core/escaped_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "modewise/core/utf8.h"

namespace modewise {
namespace {

/// Calls `keep(part)` for each run of safe text, and `escape(code_point, valid)` for each unsafe character
/// (`valid`) and each byte that is not UTF-8.
template <class Keep, class Escape>
void visit_unsafe(std::string_view text, const Keep& keep, const Escape& escape) {
  size_t kept = 0;
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const size_t length = byte < 0x80 ? 1 : utf8_length(text.substr(at));
    const char32_t point = length == 0 ? byte : utf8_code_point(text.substr(at, length));
    if (length > 0 && !is_unsafe(point)) {
      at += length;
      continue;
    }
    keep(text.substr(kept, at - kept));
    escape(point, length > 0);
    kept = at += std::max<size_t>(length, 1);
  }
  keep(text.substr(kept));
}

std::string escaped(char32_t point, bool valid) {
  const auto number = static_cast<uint32_t>(point);
  return !valid || point < 0x80 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{:04x}", number);
}

}  // namespace

bool is_unsafe(char32_t point) {
  if (point < 0x7F) return point < 0x20;
  return point < 0xA0 || point == 0x061C || (point >= 0x200E && point <= 0x200F) ||
         (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069) ||
         (point >= 0xFFFE && point <= 0xFFFF);
}

std::string escape_text(std::string_view text, LineBreaks breaks) {
  std::string out;
  out.reserve(text.size());
  visit_unsafe(
      text, [&](std::string_view part) { out += part; },
      [&](char32_t point, bool valid) {
        const bool kept = breaks == LineBreaks::kept && (point == '\n' || point == '\t');
        out += kept ? std::string(1, static_cast<char>(point)) : escaped(point, valid);
      });
  return out;
}

std::string escape_json_text(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  visit_unsafe(
      json, [&](std::string_view part) { out += part; },
      [&](char32_t point, bool valid) {
        const bool between = point == '\n' || point == '\t' || point == '\r';
        out += between ? std::string(1, static_cast<char>(point))
               : valid ? fmt::format("\\u{:04x}", static_cast<uint32_t>(point))
                       : std::string("\uFFFD");
      });
  return out;
}

std::string quote_for_message(std::string_view text, size_t limit) {
  size_t at = 0;
  while (at < text.size() && at < limit) at += std::max<size_t>(utf8_length(text.substr(at)), 1);
  return "'" + escape_text(text.substr(0, at)) + (at < text.size() ? "…'" : "'");
}

std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string bash_word(const std::string& text) {
  if (escape_text(text) == text) return shell_word(text);
  std::string out = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7F && c != '\'' && c != '\\';
    out += plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out + "'";
}

std::string command_word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](const char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
  });
  return plain ? text : bash_word(text);
}

}  // namespace modewise
