// CSV dialect detection at the threshold of each rule: one more row, cell or number changes the decision.

#include "modewise/io/tables/csv_dialect.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modewise/core/error.h"

namespace modewise::io {
namespace {

using Kinds = std::vector<CsvColumn::Kind>;

CsvDialect dialect_of(std::string_view text, const CsvOptions& options = {}) {
  return guess_dialect(text, "file", options);
}

char delimiter_of(std::string_view text, const CsvOptions& options = {}) {
  return dialect_of(text, options).delimiter;
}

/// The dialect of a table with one column and these cells.
CsvDialect column_of(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) text += cell + "\n";
  return dialect_of(text);
}

TEST(CsvDialect, PrefersADelimiterThatCutsRowsThenEqualRowsThenValuesThenColumns) {
  EXPECT_EQ(delimiter_of("a;b\n1;2\n3;4;5\n"), ';');        // no other splits a row
  EXPECT_EQ(delimiter_of("a,b;c\n1,2;3\n4,5,6;7\n"), ';');  // all rows have two cells
  EXPECT_EQ(delimiter_of("a;b,c\n1;2,3\n4;5;6,7\n"), ',');
  EXPECT_EQ(delimiter_of("a,b;c\n1,2;3\n4,5;6\n"), ';');  // 1,2 is a number if ; is the delimiter
  EXPECT_EQ(delimiter_of("a,b|c\nx,1|2\nx,1|2\n"), '|');  // half of the cells are numbers, against none
  EXPECT_EQ(delimiter_of("x|y|z,w\np|q|r,s\n"), '|');     // three columns of text against two
  EXPECT_EQ(delimiter_of("x,y,z|w\np,q,r|s\n"), ',');
  EXPECT_EQ(delimiter_of("x|y,z\np|q,r\n"), ',');  // no evidence; the first of the four
  CsvOptions point;
  point.decimal = '.';
  EXPECT_EQ(delimiter_of("a,b;c\n1,2;3\n4,5;6\n", point), ',');  // 1,2 is then not a number
}

TEST(CsvDialect, CountsARowThatCannotBeCutAgainstItsDelimiter) {
  EXPECT_EQ(delimiter_of("a;b,c\n1;2,3\n4;\"5,6\n"), ',');
  EXPECT_EQ(delimiter_of("a;b,c\n1;2,3\n4,\"5;6\n"), ';');
}

TEST(CsvDialect, TakesTheDecimalMarkOfMostNumbersThatHaveOne) {
  const auto mark = [](std::string_view text, char given = 0) {
    CsvOptions options;
    options.decimal = given;
    return dialect_of(text, options).decimal;
  };
  EXPECT_EQ(mark("x;y\n1,5;2.5\n"), '.');
  EXPECT_EQ(mark("x;y\n1,5;2\n"), ',');
  EXPECT_EQ(mark("x;y\n1;2\n"), '.');
  EXPECT_EQ(mark("x;y;z\n1,5;2,5;2.5\n"), ',');
  EXPECT_EQ(mark("x;y;z\n1,5;2.5;2.5\n"), '.');
  EXPECT_EQ(mark("x;y\n1,5;2,5\n", '.'), '.');
  EXPECT_EQ(mark("x;y\n1.5;2.5\n", ','), ',');
  EXPECT_EQ(mark("x,y\n\"1,5\",\"2,5\"\n"), '.');  // a comma that is the delimiter cannot be the decimal mark
}

TEST(CsvDialect, GivesAColumnTheKindOfHalfOfItsFilledCells) {
  const auto kind = [](const std::vector<std::string>& cells) {
    std::vector<std::string> rows = {"name"};
    rows.insert(rows.end(), cells.begin(), cells.end());
    return column_of(rows).kinds.front();
  };
  EXPECT_EQ(kind({"1", "x"}), CsvColumn::number);
  EXPECT_EQ(kind({"1", "x", "y"}), CsvColumn::text);
  EXPECT_EQ(kind({"1", "x", "NA", "NA"}), CsvColumn::number);
  EXPECT_EQ(kind({"2016-07-01", "x"}), CsvColumn::date);
  EXPECT_EQ(kind({"2016-07-01", "x", "y"}), CsvColumn::text);
  EXPECT_EQ(kind({"2016-07-01", "1"}), CsvColumn::number);
  EXPECT_EQ(kind({"2016-07-01", "1", "x"}), CsvColumn::text);
  EXPECT_EQ(kind({"NA", "NA"}), CsvColumn::number);
  EXPECT_EQ(dialect_of("a,b,c\n1,x,2016-07-01\n2,y,2016-07-02\n").kinds,
            (Kinds{CsvColumn::number, CsvColumn::text, CsvColumn::date}));
  // Rows that are too long or too short are refused later; here their existing cells count.
  EXPECT_EQ(dialect_of("a,b\n1,x,y\n2\n").kinds, (Kinds{CsvColumn::number, CsvColumn::text}));
}

TEST(CsvDialect, LooksAtTheFirstRowToo) {
  CsvOptions none;
  none.header = CsvOptions::no;
  EXPECT_EQ(dialect_of("1\nx\n", none).kinds, (Kinds{CsvColumn::number}));
  EXPECT_FALSE(dialect_of("1\nx\n", none).header);
  CsvOptions given;
  given.header = CsvOptions::yes;
  EXPECT_EQ(dialect_of("1\nx\n", given).kinds, (Kinds{CsvColumn::text}));
  EXPECT_TRUE(dialect_of("1\nx\n", given).header);
}

TEST(CsvDialect, LooksAtAHundredRows) {
  const auto kind = [](int numbers, int texts) {
    std::vector<std::string> cells(static_cast<size_t>(numbers), "7.5");
    cells.insert(cells.end(), static_cast<size_t>(texts), "x");
    return column_of(cells).kinds.front();
  };
  EXPECT_EQ(kind(50, 1000), CsvColumn::number);
  EXPECT_EQ(kind(49, 1000), CsvColumn::text);
}

TEST(CsvDialect, TellsAHeaderByTextAboveValues) {
  const auto header = [](std::string_view text) {
    const CsvDialect dialect = dialect_of(text);
    EXPECT_EQ(dialect.suspect_row, "") << text;
    return dialect.header;
  };
  EXPECT_TRUE(header("a,b\n1,x\n"));
  EXPECT_TRUE(header("a,b\n2016-07-01,x\n"));
  EXPECT_TRUE(header("a,5\n1,6\n"));
  EXPECT_TRUE(header("a,b\nx,y\n"));
  EXPECT_TRUE(header("a,b\n"));
  EXPECT_FALSE(header("a,5\nx,6\n"));    // text above text, a number above a number
  EXPECT_FALSE(header("a,0.5\n1,6\n"));  // 0.5 is unlikely as a column name
  EXPECT_FALSE(header("a,2016-07-01\n1,2016-07-02\n"));
  EXPECT_TRUE(header("a,2016\n1,2017\n"));
  EXPECT_TRUE(header("a,NA\n1,6\n"));
  EXPECT_FALSE(header("NA,NA\n1,6\n"));
}

TEST(CsvDialect, TakesANumberAboveDatesForAName) {
  const CsvDialect dialect = dialect_of("0,7\n2016-07-01,7\n2016-07-02,7\n");
  EXPECT_TRUE(dialect.header);
  EXPECT_EQ(dialect.suspect_row, "");
  EXPECT_FALSE(dialect_of("NA,7\n2016-07-01,7\n2016-07-02,7\n").header);
  EXPECT_FALSE(dialect_of("7,0\n7,x\n7,y\n").header);  // above text: no evidence
}

TEST(CsvDialect, TakesNumbersForNamesWhereAtMostOneInTwentyBelowIsWhole) {
  // Two columns with rows of 7.5 and 8.5, the last row `whole`.
  const auto header = [](size_t rows, const std::string& first = "7,8") {
    std::string text = first + "\n";
    for (size_t i = 1; i < rows; ++i) text += "7.5,8.5\n";
    return dialect_of(text + "7.5,8\n");
  };
  EXPECT_TRUE(header(11).header);  // 1 of 22
  EXPECT_EQ(header(11).suspect_row, "7, 8");
  EXPECT_FALSE(header(10).header);  // 1 of 20
  EXPECT_EQ(header(10).suspect_row, "7, 8");
  EXPECT_TRUE(header(11, "+7,-8").header);
  for (const char* none : {"7,7", "7,8.5", "7,NA", "7, 7", "7.5,8.5", "7,1e3"}) {
    EXPECT_FALSE(header(11, none).header) << none;
    EXPECT_EQ(header(11, none).suspect_row, "") << none;
  }
  // The number format of a single column proves nothing; neither does a table without numbers.
  EXPECT_FALSE(column_of({"7", "7.5", "7.25", "7.75", "7.5"}).header);
  EXPECT_EQ(dialect_of("7\n").suspect_row, "");
  EXPECT_FALSE(dialect_of("7,8\nNA,NA\n").header);
  // An index column without a name, besides names.
  EXPECT_TRUE(dialect_of(",7,8\n0.25,7.5,8.5\n0.75,7.5,8.5\n").header);
}

TEST(CsvDialect, TakesANumberForANameWhereItLiesFartherOffThanTheNumbersBelowLieApart) {
  const auto header = [](const std::string& first) { return column_of({first, "25", "20", "30"}).header; };
  EXPECT_TRUE(header("9"));
  EXPECT_FALSE(header("10"));
  EXPECT_FALSE(header("25"));
  EXPECT_FALSE(header("40"));
  EXPECT_TRUE(header("41"));
  EXPECT_TRUE(column_of({"41", "NA", "30", "NA", "20", "25"}).header);
  EXPECT_FALSE(column_of({"41", "25", "30"}).header);  // two numbers
  EXPECT_EQ(column_of({"41", "25", "30"}).suspect_row, "41");
  // Every column must differ.
  EXPECT_TRUE(dialect_of("41,51\n25,35\n20,30\n30,40\n").header);
  EXPECT_FALSE(dialect_of("41,50\n25,35\n20,30\n30,40\n").header);
  EXPECT_FALSE(dialect_of("40,51\n25,35\n20,30\n30,40\n").header);
}

TEST(CsvDialect, ShowsFourCellsOfADoubtfulRow) {
  EXPECT_EQ(dialect_of("1, 2,3 ,4\n5,6,7,8\n").suspect_row, "1, 2, 3, 4");
  EXPECT_EQ(dialect_of("1,2,3,4,5\n5,6,7,8,9\n").suspect_row, "1, 2, 3, 4, …");
  const std::string digits(30, '7');
  EXPECT_EQ(column_of({digits + "123", "5"}).suspect_row, digits);
}

TEST(CsvDialect, KnowsMissingMarksAsTextsAndAsNumbers) {
  const MissingValues marks({"NA", " gone ", "-9999", "1,5"}, '.');
  for (const char* text : {"NA", " NA ", "gone", "1,5"}) EXPECT_TRUE(marks.contains(text)) << text;
  for (const char* text : {"", "N", "-9999", "gone!"}) EXPECT_FALSE(marks.contains(text)) << text;
  EXPECT_TRUE(marks.contains(-9999.0));
  EXPECT_FALSE(marks.contains(1.5));
  EXPECT_TRUE(MissingValues({"1,5"}, ',').contains(1.5));
  EXPECT_EQ(kind_of("-9999.0", '.', marks), CellKind::missing);
  EXPECT_EQ(kind_of("9999", '.', marks), CellKind::number);
  EXPECT_EQ(kind_of("gone", '.', marks), CellKind::missing);
  EXPECT_EQ(kind_of("2016-07-01", '.', marks), CellKind::date);
  EXPECT_EQ(kind_of("2016-07-32", '.', marks), CellKind::text);
}

TEST(CsvDialect, SaysWhyThereIsNoFirstRow) {
  const auto said = [](std::string_view text) {
    try {
      dialect_of(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(said("\n\n"), "file: there are no rows");
  EXPECT_EQ(said("\"a\nb"), "file:1: unclosed quote in cell 1");
}

}  // namespace
}  // namespace modewise::io
