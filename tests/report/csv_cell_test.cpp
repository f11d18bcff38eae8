#include "modewise/report/csv_cell.h"

#include <gtest/gtest.h>

#include "modewise/report/table.h"

namespace modewise::report {
namespace {

std::string safe(std::string_view text) {
  return csv_cell(text, CsvReader::spreadsheet);
}

TEST(CsvCell, QuotesAsRfc4180Says) {
  EXPECT_EQ(csv_cell("a b"), "a b");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
}

TEST(CsvCell, EscapesControlAndBidirectionalCharacters) {
  EXPECT_EQ(csv_cell("\x1b[2J\u202Ea\r\u009B\xff"), "\\x1b[2J\\u202ea\\x0d\\u009b\\xff");
}

TEST(CsvCell, ShieldsFormulasForSpreadsheetsAlone) {
  const std::string formula = "=HYPERLINK(\"http://x\",\"y\")";
  EXPECT_EQ(csv_cell(formula), "\"=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
  EXPECT_EQ(safe(formula), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
  EXPECT_EQ(safe("+1+cmd|' /C calc'!A0"), "'+1+cmd|' /C calc'!A0");
  EXPECT_EQ(safe("-a"), "'-a");
  EXPECT_EQ(safe("@SUM(1)"), "'@SUM(1)");
  EXPECT_EQ(safe("\t=1"), "'\t=1");
  EXPECT_EQ(safe("\r=1"), "'\\x0d=1");
  EXPECT_EQ(safe("\n=1"), "\"'\n=1\"");
  EXPECT_EQ(safe("="), "'=");
}

TEST(CsvCell, LeavesNumbersAndOtherTexts) {
  for (const char* text : {"-1", "+2.5", "-1e-07", "-.5", "a=b", "", "'=1", "温度"})
    EXPECT_EQ(safe(text), text);
}

TEST(Table, EscapesTheNamesOfColumnsInCsv) {
  Table table({{"a\x1b[31m\u202E"}});
  table.add_row({"\x1b"});
  EXPECT_EQ(table.to_csv(), "a\\x1b[31m\\u202e\n\\x1b\n");
}

}  // namespace
}  // namespace modewise::report
