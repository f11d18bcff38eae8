#include "modewise/report/markup.h"

#include <gtest/gtest.h>

namespace modewise::report {
namespace {

TEST(EscapeMarkup, ReplacesTheFiveCharactersThatMeanSomething) {
  EXPECT_EQ(escape_markup("<b a=\"x\" c='y'>&</b>"),
            "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;&lt;/b&gt;");
  EXPECT_EQ(escape_markup("Größe → °C 温度"), "Größe → °C 温度");
}

TEST(EscapeMarkup, ReplacesWhatXmlMayNotHold) {
  EXPECT_EQ(escape_markup(std::string("a\0b\x1b[31m\x7f", 9)), "a\uFFFDb\uFFFD[31m\uFFFD");
  EXPECT_EQ(escape_markup("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(escape_markup("\xEF\xBF\xBE"), "\uFFFD");  // U+FFFE
  EXPECT_EQ(escape_markup("\xE2\x80\xAE"
                          "evil"),
            "\uFFFDevil");  // right-to-left override
}

TEST(EscapeMarkup, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(escape_markup("\xff"), "\uFFFD");
  EXPECT_EQ(escape_markup("\xC3"), "\uFFFD");            // truncated
  EXPECT_EQ(escape_markup("\xC0\xBC"), "\uFFFD\uFFFD");  // overlong "<"
  EXPECT_EQ(escape_markup("\xE0\x80\xBC"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(escape_markup("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(escape_markup("\xF5\x80\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(escape_markup("\xC3<"), "\uFFFD&lt;");  // the byte after an invalid one is kept
}

TEST(Printable, IsOneLineWithoutTerminalCodes) {
  EXPECT_EQ(printable("a\nb\t\x1b[0m"), "a b \\x1b[0m");
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("± é"), 3);
  EXPECT_EQ(display_width("温度"), 4);
  EXPECT_EQ(display_width("e\xCC\x81"), 1);  // e and a combining acute accent
}

TEST(Shorten, CutsAtCharactersNotBytes) {
  EXPECT_EQ(shorten("äöü", 3), "äöü");
  EXPECT_EQ(shorten("äöüß", 3), "äö…");
  EXPECT_EQ(shorten("", 3), "");
}

TEST(TextWidth, GrowsWithTextAndSize) {
  EXPECT_DOUBLE_EQ(text_width("", 11), 0);
  EXPECT_DOUBLE_EQ(text_width("10", 10), 11.2);
  EXPECT_GT(text_width("WWW", 11), text_width("iii", 11));
}

TEST(Base64, EncodesTheExamplesOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xfb\xff\xfe"), "+//+");
}

}  // namespace
}  // namespace modewise::report
