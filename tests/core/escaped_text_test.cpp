#include "modewise/core/escaped_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "modewise/core/utf8.h"

namespace modewise {
namespace {

std::string text_of(char32_t point) {
  std::string text;
  append_utf8(text, point);
  return text;
}

/// Unicode 15's Bidi_Control, separators of lines and paragraphs, C0, DEL and C1.
bool is_refused(char32_t point) {
  for (const char32_t one :
       U"\u061C\u200E\u200F\u2028\u2029\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069")
    if (one == point && one != 0) return true;
  return point <= 0x1F || (point >= 0x7F && point <= 0x9F) || point == 0xFFFE || point == 0xFFFF;
}

TEST(EscapeText, EscapesTheUnsafeCharactersAndNoOther) {
  for (char32_t point = 0; point < 0x110000; ++point) {
    if (point >= 0xD800 && point < 0xE000) continue;
    ASSERT_EQ(is_unsafe(point), is_refused(point)) << std::hex << static_cast<uint32_t>(point);
    const std::string text = text_of(point);
    ASSERT_EQ(escape_text(text) == text, !is_refused(point)) << std::hex << static_cast<uint32_t>(point);
  }
}

TEST(EscapeText, ShowsWhatItEscapes) {
  EXPECT_EQ(escape_text("a\x1b[31mb\x7f"), "a\\x1b[31mb\\x7f");
  EXPECT_EQ(escape_text(std::string("\0\n\t\r", 4)), "\\x00\\x0a\\x09\\x0d");
  EXPECT_EQ(escape_text("\u009B\u202Egpj\u2069"), "\\u009b\\u202egpj\\u2069");
  EXPECT_EQ(escape_text("d\xff.csv \xC3 \xED\xA0\x80"), "d\\xff.csv \\xc3 \\xed\\xa0\\x80");
  EXPECT_EQ(escape_text("schön 温度 👩‍🔬 \\x1b"), "schön 温度 👩‍🔬 \\x1b");
  EXPECT_EQ(escape_text(""), "");
}

TEST(EscapeText, KeepsLinesAndTabsWhereAsked) {
  EXPECT_EQ(escape_text("a\n\tb\r\x1b", LineBreaks::kept), "a\n\tb\\x0d\\x1b");
}

TEST(EscapeText, ChangesNothingTheSecondTime) {
  const std::string once = escape_text("\x1b\u202E\xff\n\\");
  EXPECT_EQ(escape_text(once), once);
}

TEST(EscapeJsonText, GivesAnEqualDocument) {
  std::string all;
  for (char32_t point = 0; point < 0x11000; ++point)
    if (point < 0xD800 || point >= 0xE000) append_utf8(all, point);
  const nlohmann::json json = {{all, {all, 1.5}}};
  const std::string escaped = escape_json_text(json.dump(2));
  EXPECT_EQ(nlohmann::json::parse(escaped), json);
  EXPECT_EQ(escape_text(escaped, LineBreaks::kept), escaped);
}

TEST(QuoteForMessage, EscapesAndCutsBetweenCharacters) {
  EXPECT_EQ(quote_for_message("\x1b[2J\u202E"), "'\\x1b[2J\\u202e'");
  EXPECT_EQ(quote_for_message("ééé", 3), "'éé…'");
  EXPECT_EQ(quote_for_message("", 3), "''");
}

}  // namespace
}  // namespace modewise
