#include "modewise/report/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "modewise/core/error.h"
#include "tests/error_of.h"

namespace modewise::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using Best = Column::Best;

Table errors() {
  Table table({{"model"}, {"MSE", Best::lowest}, {"R²", Best::highest}});
  table.add_row({"hot", 0.1651, 0.9});
  table.add_row({"patchtst", 0.1742, 0.95});
  table.add_row({"repeat", NAN, 0.1});
  return table;
}

TEST(Table, TextIsAlignedWithTheBestMarked) {
  EXPECT_EQ(errors().to_text(),
            "model       MSE      R²\n"
            "────────  ─────   ─────\n"
            "hot       0.165*  0.900\n"
            "patchtst  0.174   0.950*\n"
            "repeat        –   0.100\n");
}

TEST(Table, MarksTheBestOfEachGroupOfCells) {
  Table table({{"horizon"}, {"MSE", Best::lowest}});
  for (const auto& [horizon, mse] : {std::pair("6", 0.3), {"12", 0.5}, {"6", 0.2}, {"24", 0.1}, {"12", 0.4}})
    table.add_row({horizon, Cell(mse).within(horizon)});
  EXPECT_EQ(table.to_text(),
            "horizon    MSE\n"
            "───────  ─────\n"
            "6        0.300\n"
            "12       0.500\n"
            "6        0.200*\n"
            "24       0.100\n"  // a single number
            "12       0.400*\n");
}

TEST(Table, ColouredTextKeepsTheMark) {
  EXPECT_THAT(errors().to_text(true), HasSubstr("\x1b[1m0.165*\x1b[0m"));
}

TEST(Table, Markdown) {
  EXPECT_EQ(errors().to_markdown(),
            "| model | MSE | R² |\n"
            "|---|---:|---:|\n"
            "| hot | **0.165** | 0.900 |\n"
            "| patchtst | 0.174 | **0.950** |\n"
            "| repeat | – | 0.100 |\n");
}

TEST(Table, CsvHasFullPrecisionAndQuotes) {
  Table table({{"a,b"}, {"x"}});
  table.add_row({"say \"hi\"", Cell::mean_sd(0.1 + 0.2, 0.5)});
  table.add_row({"plain", NAN});
  EXPECT_EQ(table.to_csv(),
            "\"a,b\",x,x sd\n"
            "\"say \"\"hi\"\"\",0.30000000000000004,0.5\n"
            "plain,,\n");
}

TEST(Table, HtmlEscapesNamesAndCells) {
  Table table({{"<i>name</i>"}, {"v", Best::lowest}});
  table.add_row({"</td><script>alert(1)</script>", 1.0});
  table.add_row({"b & c", 2.0});
  const std::string html = table.to_html();
  EXPECT_THAT(html, HasSubstr("&lt;i&gt;name&lt;/i&gt;"));
  EXPECT_THAT(html, HasSubstr("&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(html, HasSubstr("<td class=\"n\"><strong>1.000</strong></td>"));
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
}

TEST(Table, ValuesThatReadTheSameShareTheMark) {
  Table table({{"model"}, {"MSE", Best::lowest}});
  table.add_row({"a", 0.38891});
  table.add_row({"b", 0.38922});
  table.add_row({"c", 0.41});
  EXPECT_EQ(table.to_text(),
            "model    MSE\n"
            "─────  ─────\n"
            "a      0.389*\n"
            "b      0.389*\n"
            "c      0.410\n");
}

TEST(Table, BestIsSoughtWithinGroupsWhenAsked) {
  Table table({{"horizon"}, {"MSE", Best::lowest}});
  table.best_by_group = true;
  table.add_row({96, 0.5});
  table.add_row({96, 0.4});
  table.add_rule();
  table.add_row({192, 0.7});
  table.add_row({192, 0.9});
  EXPECT_EQ(table.to_text(),
            "horizon    MSE\n"
            "───────  ─────\n"
            "     96  0.500\n"
            "     96  0.400*\n"
            "───────  ─────\n"
            "    192  0.700*\n"
            "    192  0.900\n");
}

TEST(Table, ALoneValueIsNotMarkedBest) {
  Table table({{"model"}, {"MSE", Best::lowest}});
  table.add_row({"a", 0.5});
  EXPECT_THAT(table.to_text(), Not(HasSubstr("*")));
}

TEST(Table, WideAndHostileTextStaysAligned) {
  Table table({{"名"}, {"n"}});
  table.add_row({"温度", 1});
  table.add_row({"a\x1b[31m\nb", 10});
  EXPECT_EQ(table.to_text(),
            "名            n\n"
            "───────────  ──\n"
            "温度          1\n"
            "a\\x1b[31m b  10\n");
}

TEST(Table, WithoutRowsHasAHeader) {
  EXPECT_EQ(Table({{"a"}, {"b"}}).to_text(), "a  b\n─  ─\n");
  EXPECT_THAT(Table({{"a"}}).to_html(), HasSubstr("<tbody>\n</tbody>"));
}

TEST(Table, RefusesRowsOfAnotherWidth) {
  Table table({{"a"}, {"b"}});
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { table.add_row({"x"}); }),
            "a row of this table must have 2 cells, got 1");
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { Table({}); }), "a table needs at least one column");
}

TEST(Cell, Numbers) {
  EXPECT_EQ(Cell::count(686544).text(), "686,544");
  EXPECT_EQ(Cell::count(-1234567).text(), "-1,234,567");
  EXPECT_EQ(Cell::count(999).text(), "999");
  EXPECT_EQ(Cell::count(std::numeric_limits<int64_t>::min()).text(), "-9,223,372,036,854,775,808");
  EXPECT_EQ(Cell::mean_sd(0.3751, 0.0042).text(), "0.375 ± 0.004");
  EXPECT_EQ(Cell::mean_sd(0.3751, std::nullopt).text(), "0.375");
  EXPECT_EQ(Cell(INFINITY).text(), "∞");
  EXPECT_EQ(Cell::number(1.51e9, "1.51 G").text(), "1.51 G");
}

}  // namespace
}  // namespace modewise::report
