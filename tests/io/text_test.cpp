#include <cmath>

#include "modewise/io/number_text.h"
#include "modewise/io/tables/text_cells.h"
#include "modewise/io/utf8.h"
#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

TEST(ParseNumber, RoundsAsPythonDoes) {
  const auto vectors = load_vectors("csv.json");
  for (const auto& test : vectors["numbers"]) {
    const std::string text = test[0];
    const double expected = from_hex_float(test[1]);
    double value = 0;
    ASSERT_TRUE(parse_number(text, '.', value)) << text;
    EXPECT_EQ(value, expected) << text;
    EXPECT_EQ(std::signbit(value), std::signbit(expected)) << text;
    std::string comma = text;
    if (const size_t point = comma.find('.'); point != std::string::npos) comma[point] = ',';
    value = 0;
    ASSERT_TRUE(parse_number("\t" + comma + "  ", ',', value)) << comma;
    EXPECT_EQ(value, expected) << comma;
  }
}

TEST(ParseNumber, RefusesWhatIsNoFiniteNumber) {
  for (const char* text :
       {"",      " ",      "+",    "-",     ".",    "-.",    "+-1",   "--1",  "1-",  "1e",
        "1e+",   "e5",     "1 2",  "1,5",   "0x10", "1f",    "inf",   "-inf", "nan", "infinity",
        "1e999", "-1e999", "1..2", "1.2.3", "12a",  "1_000", "1'000", "٣"}) {
    double value;
    EXPECT_FALSE(parse_number(text, '.', value)) << text;
  }
  double value;
  EXPECT_FALSE(parse_number("1.5", ',', value));
  EXPECT_FALSE(parse_number("1.234,5e1", ',', value));
  for (const char* text : {"1e5.5", "1,5e.5", "1,5e5.", "1e1.", "1e5,5", "1,e,5", "12345678901234567890.5"})
    EXPECT_FALSE(parse_number(text, ',', value)) << text;
}

TEST(TextCells, GivesBackItsTexts) {
  const TextCells cells = {"N", "", "north-west", "é"};
  EXPECT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[0], "N");
  EXPECT_EQ(cells[1], "");
  EXPECT_EQ(cells.back(), "é");
  EXPECT_EQ((std::vector<std::string_view>(cells.begin(), cells.end())),
            (std::vector<std::string_view>{"N", "", "north-west", "é"}));
  EXPECT_TRUE(TextCells().empty());
  EXPECT_NE(cells, TextCells{"N"});
}

TEST(TextCells, GivesBackTextsThatRepeatAndThenDiffer) {
  TextCells cells;
  const auto text_of = [](int i) {
    return i < 3000 ? "series " + std::to_string(i % 7) : i < 6000 ? "" : std::to_string(i);
  };
  for (int i = 0; i < 90000; ++i) EXPECT_TRUE(cells.push_back(text_of(i)));
  ASSERT_EQ(cells.size(), 90000u);
  int i = 0;
  for (const std::string_view cell : cells) EXPECT_EQ(cell, text_of(i++));
  for (i = 0; i < 90000; i += 17) EXPECT_EQ(cells[static_cast<size_t>(i)], text_of(i));
}

TEST(DistinctTexts, NumberTextsByTheirFirstAppearance) {
  DistinctTexts texts;
  for (uint32_t i = 0; i < 5000; ++i) {
    EXPECT_EQ(texts.add(std::to_string(i)), i);
    EXPECT_EQ(texts.add(std::to_string(i / 2)), i / 2);
  }
  EXPECT_EQ(texts.add(""), 5000u);
  EXPECT_EQ(texts.add(""), 5000u);
  ASSERT_EQ(texts.size(), 5001u);
  for (uint32_t i = 0; i < 5000; i += 7) EXPECT_EQ(texts[i], std::to_string(i));
}

TEST(Utf8, FindsTheFirstInvalidByte) {
  const std::string filler(100, 'a');
  for (const char* good : {"", "a", "é", "€", "😀", "\xEF\xBF\xBD", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(find_invalid_utf8(filler + good + filler), std::string::npos) << good;
    EXPECT_EQ(find_invalid_utf8(good), std::string::npos) << good;
  }
  for (const char* bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3z", "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xFE", "\xF0\x9F\x98"}) {
    for (size_t before : {0, 1, 31, 32, 33, 100}) {
      EXPECT_EQ(find_invalid_utf8(filler.substr(0, before) + bad + filler), before);
      EXPECT_EQ(find_invalid_utf8(filler.substr(0, before) + bad), before);
    }
  }
}

TEST(Utf8, WritesEveryLength) {
  std::string text;
  for (const char32_t code : {U'A', U'é', U'€', U'😀'}) append_utf8(text, code);
  EXPECT_EQ(text, "Aé€😀");
}

TEST(Utf8, QuotesForMessages) {
  EXPECT_EQ(quote_for_message("plain é"), "'plain é'");
  EXPECT_EQ(quote_for_message("a\nb\xFF"), "'a\\x0ab\\xff'");
  EXPECT_EQ(quote_for_message(std::string(100, 'x'), 5), "'xxxxx…'");
}

}  // namespace
}  // namespace modewise::io
