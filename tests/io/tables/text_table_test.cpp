// Text tables: selected columns, and refused files.

#include "modewise/io/tables/text_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "modewise/core/error.h"
#include "modewise/core/file.h"

namespace modewise::io {
namespace {

using Texts = std::vector<std::string>;

TextTable read(const std::string& text, const TextTableOptions& options, std::vector<size_t> chosen) {
  return parse_text_table(as_bytes(text), "x.tsv", options, [&](const Texts&) { return chosen; });
}

std::string refused(const std::string& text, const TextTableOptions& options = {},
                    const std::vector<size_t>& chosen = {0}) {
  try {
    read(text, options, chosen);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    return error.what();
  }
  return "nothing";
}

Texts texts(const TextCells& cells) {
  return {cells.begin(), cells.end()};
}

TEST(TextTable, QuotesAreCharactersWhereTheyMeanNothing) {
  const std::string text = "a\tb\n\"x\t1\n\n  y \"z\"\t\"2\"\r\n";
  const TextTable table = read(text, {}, {1, 0});
  EXPECT_EQ(table.names, (Texts{"a", "b"}));
  EXPECT_EQ(texts(table.columns[0]), (Texts{"1", "\"2\""}));
  EXPECT_EQ(texts(table.columns[1]), (Texts{"\"x", "  y \"z\""}));
  EXPECT_EQ(table.lines, (std::vector<uint32_t>{2, 4}));
}

TEST(TextTable, QuotesHoldDelimitersAndLineEnds) {
  TextTableOptions options;
  options.delimiter = ',';
  options.quotes = true;
  const TextTable table = read("a,b\n\"x,\n\"\"y\"\"\",1\nz,2\n", options, {0});
  EXPECT_EQ(texts(table.columns[0]), (Texts{"x,\n\"y\"", "z"}));
  EXPECT_EQ(table.lines, (std::vector<uint32_t>{2, 4}));
}

TEST(TextTable, AFileWithoutHeaderKeepsItsFirstRow) {
  TextTableOptions options;
  options.header = false;
  const TextTable table = read("p\tq\nr\ts\n", options, {1});
  EXPECT_EQ(table.names, (Texts{"1", "2"}));
  EXPECT_EQ(texts(table.columns[0]), (Texts{"q", "s"}));
}

TEST(TextTable, RowsOfAnotherNumberOfCellsAreRefusedOrLeftOut) {
  TextTableOptions options;
  options.leave_out_advice = " (so and so)";
  const std::string text = "a\tb\n1\t2\n3\n4\t5\t6\n7\t8\n";
  EXPECT_EQ(refused(text, options), "x.tsv:3: 1 cell, but the first row has 2 (so and so)");
  options.leave_out_broken = true;
  const TextTable table = read(text, options, {0});
  EXPECT_EQ(texts(table.columns[0]), (Texts{"1", "7"}));
  EXPECT_EQ(table.left_out.count, 2);
  EXPECT_EQ(table.left_out.first_line, 3U);
}

TEST(TextTable, SaysWhatIsWrong) {
  TextTableOptions options;
  options.longest_cell = 5;
  EXPECT_EQ(refused("a\n12345\n123456\n", options), "x.tsv:3: a text of 6 bytes; the limit is 5");
  EXPECT_EQ(refused("a\tb\n"), "x.tsv: a header without rows");
  EXPECT_EQ(refused(""), "x.tsv: the file is empty");
  EXPECT_EQ(refused(std::string("a\n\0\n", 4)), "x.tsv:2: NUL at byte 2: not a text file");
  EXPECT_EQ(refused("a\n\xff\n"), "x.tsv:2: byte 2 (0xff) is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(refused("a" + std::string(1000, '\t') + "\n"), "x.tsv:1: more than 1000 columns");
  EXPECT_EQ(refused("a\tb\n1\t2\n", {}, {1, 1}),
            "x.tsv: the column 'b' is chosen twice: texts, pairs and labels need columns of their own");
}

TEST(TextTable, RowsTooShortToBeTextsDoNotFillTheMemory) {
  const size_t rows = 1'400'000;
  std::string text = "a\n";
  for (size_t i = 0; i < rows; ++i) text += "b\n";
  EXPECT_EQ(refused(text), fmt::format("x.tsv: {} rows or more in {} bytes: they are too short to be texts",
                                       17 * 65536, text.size()));
}

}  // namespace
}  // namespace modewise::io
