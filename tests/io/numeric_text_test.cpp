#include "modewise/io/numeric_text.h"

#include <cmath>
#include <filesystem>

#include "tests/data_folder.h"
#include "tests/io/damage.h"

namespace modewise::io {
namespace {

void try_numeric_text(std::span<const std::byte> bytes) {
  parse_numeric_text(bytes, "file");
}
NumericText matrix_of(std::string_view text) {
  return parse_numeric_text(to_bytes(text), "file");
}

TEST(NumericText, ReadsEverySeparator) {
  for (const char* text : {"1,2,3\n4,5,6\n", "1, 2, 3\r\n4, 5, 6", "1;2;3\n4;5;6\n", "1\t2\t3\n4\t5\t6\n",
                           "1 2 3\n4 5 6\n", "  1   2  3  \n  4   5  6\n",
                           "\xEF\xBB\xBF"
                           "1 2\t3\n4\t5 6\n\n",
                           "\n1,2,3\n\n4,5,6\n", "1.0e0,+2,3.\n4,5,6"}) {
    const NumericText matrix = matrix_of(text);
    EXPECT_EQ(matrix.rows, 2) << text;
    EXPECT_EQ(matrix.columns, 3) << text;
    EXPECT_EQ(matrix.values, (std::vector<double>{1, 2, 3, 4, 5, 6})) << text;
  }
}

TEST(NumericText, KeepsMissingCells) {
  for (const char* text : {"1,,nan\n", "1\t\tNA\n", "1 nan NA\n"}) {
    const NumericText matrix = matrix_of(text);
    ASSERT_EQ(matrix.columns, 3) << text;
    EXPECT_TRUE(std::isnan(matrix.values[1]) && std::isnan(matrix.values[2])) << text;
  }
}

TEST(NumericText, RefusesWithThePlace) {
  expect_refused(
      try_numeric_text,
      {
          {"empty", "", "file: the file is empty"},
          {"blank", "\n\n  \n", "file: the file has only empty lines"},
          {"only quotes", "\"\"", "file: the file holds no numbers"},
          {"header", "a,b\n1,2\n",
           "file:1: cell 1 is 'a', which is not a finite number; name a table with a header .csv"},
          {"text", "1,2\n3,x\n", "file:2: cell 2 is 'x', which is not a finite number"},
          {"percent", "1,2\n3,5%\n",
           "file:2: cell 2 is '5%', which is not a finite number; a file named .csv may hold such cells"},
          {"decimal commas", "1,5;2,5\n",
           "file:1: cell 1 is '1,5', which is not a finite number; name a table with a header .csv"},
          {"infinite", "1,2\n\n3,inf\n", "file:3: cell 2 is 'inf', which is not a finite number"},
          {"short row", "1,2\n3\n", "file:2: expected 2 numbers as in the first row, got 1"},
          {"long row", "1 2\n3 4 5\n", "file:2: expected 2 numbers as in the first row, got 3"},
          {"NUL", std::string("1,2\n3,\0\n", 8), "file:2: NUL at byte 6: not a text file"},
          {"latin-1", "1,2\n3,\xB5\n", "file:2: byte 6 (0xb5) is not UTF-8; save the file as UTF-8"},
          {"UTF-16", std::string("\xFF\xFE\x31\x00\x32", 5),
           "file: UTF-16 ends within a character, at byte 5"},
          {"open quote", "\"1,2\n", "file:1: unclosed quote in cell 1"},
          {"a date", "2016-07-01,2\n",
           "file:1: cell 1 is '2016-07-01', which is not a finite number; name a table with a header .csv"},
      });
}

TEST(NumericText, SurvivesFlips) {
  for (const char* text : {"1,2,3\n4,5,6\n", "1 2\t3\n4 5 6\n", "\"1\";2\r\n3;4\r\n"})
    expect_flips_are_clean(try_numeric_text, text);
}

TEST(NumericText, ReadsManyTabsWithoutRecursion) {
  std::string text = "1 ";
  for (int i = 0; i < 1'000'000; ++i) text += "\t1";
  EXPECT_EQ(matrix_of(text).columns, 1'000'001);
}

TEST(NumericText, ReadsTheExchangeRates) {
  const std::string path = (data_folder() / "forecasting" / "exchange_rate.txt").string();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const NumericText matrix = read_numeric_text(path);
  EXPECT_EQ(matrix.rows, 7588);
  EXPECT_EQ(matrix.columns, 8);
  EXPECT_EQ(matrix.values[0], 0.7855);
}

}  // namespace
}  // namespace modewise::io
