// Numbers in CSV files: written forms, decimal and thousands marks, missing marks, texts kept as written.

#include "modewise/io/tables/csv.h"

#include <cmath>

#include "tests/error_of.h"
#include "tests/io/tables/csv_tables.h"

namespace modewise::io {
namespace {

/// The numbers of one column in a file with semicolons.
Numbers numbers_of(const std::vector<std::string>& cells, const CsvOptions& options = {}) {
  std::string text = "x;name\n";
  for (const std::string& cell : cells) text += cell + ";a\n";
  const CsvTable table = table_of(text, options);
  EXPECT_EQ(table.columns[0].kind, CsvColumn::number) << text;
  return {table.columns[0].numbers.begin(), table.columns[0].numbers.end()};
}

TEST(Csv, ReadsNumbersAsTheyAreWritten) {
  EXPECT_EQ(numbers_of({"1,234.5", "900"}), (Numbers{1234.5, 900}));
  EXPECT_EQ(numbers_of({"1.234,5", "900", "0,25"}), (Numbers{1234.5, 900, 0.25}));
  EXPECT_EQ(numbers_of({"1,234,567", "2,900"}), (Numbers{1234567, 2900}));
  EXPECT_EQ(numbers_of({"1.234.567", "2.900"}), (Numbers{1234567, 2900}));
  EXPECT_EQ(numbers_of({"1 234 567", "1\u00A0234", "1\u202F234,5", "1\u2009234"}),
            (Numbers{1234567, 1234, 1234.5, 1234}));
  EXPECT_EQ(numbers_of({"12'345.5", "12\u2019345", "7"}), (Numbers{12345.5, 12345, 7}));
  EXPECT_EQ(numbers_of({"-0.61%", "5 %", "0"}), (Numbers{-0.61, 5, 0}));
  EXPECT_EQ(numbers_of({"$5.50", "-$1,000.25", "$ 7", "8", "9 $"}), (Numbers{5.5, -1000.25, 7, 8, 9}));
  EXPECT_EQ(numbers_of({"- $5.50", "$ -7", "+ $ 8"}), (Numbers{-5.5, -7, 8}));
  EXPECT_EQ(numbers_of({"5 \u20AC", "\u20AC6"}), (Numbers{5, 6}));
  EXPECT_EQ(numbers_of({"68.18K", "1.5M", "2B", "950", "3k"}), (Numbers{68180, 1.5e6, 2e9, 950, 3000}));
  EXPECT_EQ(numbers_of({"(1,234.50)", "17"}), (Numbers{-1234.5, 17}));
  EXPECT_EQ(numbers_of({"5-", "+5", "1e3"}), (Numbers{-5, 5, 1000}));
  EXPECT_EQ(numbers_of({"\u22126,5", "\uFE637", "\uFF0D8", "9,25"}), (Numbers{-6.5, -7, -8, 9.25}));
}

TEST(Csv, ReadsPointsAsDecimalMarksWhereTheyCanBeNothingElse) {
  EXPECT_EQ(numbers_of({"1.234", "0.125"}), (Numbers{1.234, 0.125}));        // no group begins with 0
  EXPECT_EQ(numbers_of({"1.234", "1.5"}), (Numbers{1.234, 1.5}));            // three digits and one
  EXPECT_EQ(numbers_of({"1.234", "1234.567"}), (Numbers{1.234, 1234.567}));  // a group of four
  const CsvTable commas = table_of("x,y\n1.234,900\n2.345,901\n");
  EXPECT_EQ(commas.columns[0].numbers, (Numbers{1.234, 2.345}));
  EXPECT_THAT(commas.notes, testing::IsEmpty());
}

TEST(Csv, LetsAnotherColumnDecideTheMarks) {
  const CsvTable german = table_of("x;y\n1,5;2.900\n2;3.900\n");
  EXPECT_EQ(german.columns[1].numbers, (Numbers{2900, 3900}));
  EXPECT_THAT(german.notes, testing::ElementsAre("the comma is the decimal mark",
                                                 "column 'y': the point groups thousands"));
  EXPECT_EQ(table_of("x;y\n0.5;2,900\n2;3,900\n").columns[1].numbers, (Numbers{2900, 3900}));
  EXPECT_EQ(table_of("x;y\n0.5;2.900\n2;3.900\n").columns[1].numbers, (Numbers{2.9, 3.9}));
  EXPECT_EQ(table_of("x,y\n1.234,\"2,900\"\n2.345,\"3,900\"\n").columns[1].numbers, (Numbers{2900, 3900}));
  const CsvTable both = table_of("x,y\n\"1,5\",6.5\n\"2,5\",7\n");
  EXPECT_EQ(both.columns[0].numbers, (Numbers{1.5, 2.5}));
  EXPECT_THAT(both.notes,
              testing::ElementsAre("column 'x': the comma is the decimal mark, unlike in the other columns"));
  CsvOptions usual;
  usual.usual_decimal = ',';
  EXPECT_EQ(numbers_of({"2,900", "900"}, usual), (Numbers{2.9, 900}));
  EXPECT_EQ(numbers_of({"2.900", "900"}, usual), (Numbers{2900, 900}));
  EXPECT_EQ(numbers_of({"2.900", "0.5"}, usual), (Numbers{2.9, 0.5}));
}

TEST(Csv, TakesTheMarksOfTheOptions) {
  CsvOptions decimal, thousands, none;
  decimal.decimal = ',';
  thousands.thousands = ',';
  none.thousands = '\0';
  EXPECT_EQ(numbers_of({"2,900", "900"}, decimal), (Numbers{2.9, 900}));
  EXPECT_EQ(numbers_of({"2.900", "900"}, decimal), (Numbers{2900, 900}));
  EXPECT_EQ(numbers_of({"2,900", "900"}, thousands), (Numbers{2900, 900}));
  EXPECT_EQ(numbers_of({"2,900", "900"}, none), (Numbers{2.9, 900}));
  EXPECT_EQ(numbers_of({"2.900", "900"}, none), (Numbers{2.9, 900}));
  const auto with_point = [](std::span<const std::byte> bytes) {
    CsvOptions point;
    point.decimal = '.';
    parse_csv(bytes, "file", point);
  };
  EXPECT_EQ(message_of(with_point, "x;y\n1;2\n1,5;3\n"),
            "file:3: column 'x' holds '1,5', which data.decimal and data.thousands do not allow");
}

TEST(Csv, NamesEachReadingOfWrittenNumbers) {
  const CsvTable table = table_of(
      "d,p,v,c,a,m\n2023-10-07,\"41,166.9\",46.9K,-0.79%,(5),\u22126\n2023-10-06,\"41,134.3\",45.8K,0.34%,$7,"
      "5-\n");
  EXPECT_THAT(table.notes,
              testing::ElementsAre("column 'p': the comma groups thousands",
                                   "column 'v': K, M and B are read as thousands, millions and billions; "
                                   "data.magnitudes = false reads them as units",
                                   "column 'c': percent signs are left out, the values are in percent",
                                   "column 'a': $ is left out",
                                   "column 'a': 1 number in parentheses read as negative",
                                   "column 'm': 1 number with a minus behind read as negative",
                                   "column 'm': the minus sign or dash (\u2212) is read as minus"));
  EXPECT_EQ(table.columns[3].numbers, (Numbers{-0.79, 0.34}));
  CsvOptions plain;
  plain.plain_numbers = true;
  const CsvTable texts = table_of("p,c\n\"41,166.9\",5%\n\"41,134.3\",6%\n", plain);
  EXPECT_EQ(texts.columns[0].kind, CsvColumn::text);
  EXPECT_THAT(texts.notes, testing::IsEmpty());
}

TEST(Csv, ReadsLettersOfMagnitudesAsUnitsIfAsked) {
  CsvOptions units;
  units.magnitudes = false;
  for (const std::string space : {"", " "}) {
    const std::string text =
        "t,x\n1,293.15" + space + "K\n2,294.5" + space + "K\n3,NA\n4,295" + space + "K\n";
    const CsvTable table = table_of(text, units);
    EXPECT_EQ(table.columns[1].unit, "K");
    EXPECT_EQ(table.columns[1].numbers[1], 294.5);
    EXPECT_EQ(table_of(text).columns[1].numbers[1], 294500);
  }
  const CsvTable mixed = table_of("t,x\n1,1.5K\n2,2.5M\n3,3.5K\n", units);
  EXPECT_EQ(mixed.columns[1].kind, CsvColumn::text);
  EXPECT_EQ(table_of("t,x\n1,12.5 kWh\n2,13.5 kWh\n", units).columns[1].unit, "kWh");
}

TEST(Csv, ReadsMarksOfMissingCellsInColumnsOfNumbers) {
  const CsvTable table = table_of("x,y,z\n1,?,?\n.,2,a\n.,3,-\n#DIV/0!,4,b\n2,5,c\n");
  EXPECT_TRUE(std::isnan(table.columns[0].numbers[1]) && std::isnan(table.columns[0].numbers[3]));
  EXPECT_EQ(table.columns[0].numbers[4], 2);
  EXPECT_TRUE(std::isnan(table.columns[1].numbers[0]));
  EXPECT_EQ(table.columns[2].texts, (TextCells{"?", "a", "-", "b", "c"}));
  EXPECT_THAT(table.notes, testing::ElementsAre("column 'x': 2 cells of '.' read as missing",
                                                "column 'x': 1 cell of '#DIV/0!' read as missing",
                                                "column 'y': 1 cell of '?' read as missing"));
  EXPECT_THAT(table_of("x,y\n1,?\n?,?\n2,3\n").notes,
              testing::ElementsAre("columns 'x', 'y': 3 cells of '?' read as missing"));
  EXPECT_EQ(table_of("x,y\n-,1\n?,2\n").columns[0].texts, (TextCells{"-", "?"}));
}

TEST(Csv, KeepsChosenColumnsAsTexts) {
  CsvOptions options;
  options.is_text = [](std::string_view name) { return name == "id" || name == "day"; };
  const CsvTable table =
      table_of("id,day,x\n000001,2020-01-01,1\n1234567890123456789,01/02/2020,2\n1e3,NA,3\n", options);
  EXPECT_EQ(table.columns[0].texts, (TextCells{"000001", "1234567890123456789", "1e3"}));
  EXPECT_EQ(table.columns[1].texts, (TextCells{"2020-01-01", "01/02/2020", "NA"}));
  EXPECT_EQ(table.columns[2].numbers, (Numbers{1, 2, 3}));
}

TEST(Csv, FindsIntegersThatAreWrittenPlainly) {
  const auto plain = [](const std::string& cells, const CsvOptions& options = {}) {
    const CsvTable table = table_of("x,y\n" + cells, options);
    EXPECT_EQ(table.columns[0].kind, CsvColumn::number) << cells;
    return table.columns[0].plain_integers;
  };
  EXPECT_TRUE(plain("1,a\n-20,b\n0,c\n999999999999999,d\n"));
  for (const char* cell : {"007", "1.0", "1e3", "-0", "+5", "1000000000000000", "NA", "?"})
    EXPECT_FALSE(plain("1,a\n2,b\n3,c\n" + std::string(cell) + ",d\n")) << cell;
  EXPECT_FALSE(plain("1 kg,a\n2 kg,b\n3.5 kg,c\n"));
  EXPECT_FALSE(plain("\"1,000\",a\n\"2,000\",b\n\"2,000,000\",b\n"));
  CsvOptions options;
  options.missing.push_back("-9999");
  EXPECT_FALSE(plain("1,a\n-9999,b\n3,c\n", options));
  EXPECT_FALSE(table_of("x,y\n1,a\n2,b\n").columns[1].plain_integers);
}

}  // namespace
}  // namespace modewise::io
