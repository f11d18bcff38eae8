// Lines of CSV files that are not rows, the tables that programs print, and how their names fit the rows.

#include "modewise/io/tables/csv.h"

#include <utility>

#include "tests/error_of.h"
#include "tests/io/tables/csv_tables.h"

namespace modewise::io {
namespace {

TEST(Csv, ReadsALineThatGivesTheDelimiter) {
  for (const char* line : {"sep=;", "SEP=;", "\"sep=;\"", "sep=;;;", "\xEF\xBB\xBFsep=;"}) {
    const CsvTable table = table_of(std::string(line) + "\nday;a\n2023-03-01;20,5\n2023-03-02;21,25\n");
    EXPECT_EQ(names_of(table), (Names{"day", "a"})) << line;
    EXPECT_EQ(table.delimiter, ';') << line;
    EXPECT_EQ(table.columns[1].numbers, (Numbers{20.5, 21.25})) << line;
    EXPECT_THAT(table.notes[0], testing::StartsWith("line 1, ")) << line;
  }
  EXPECT_EQ(names_of(table_of("sep=,\nday,a\n2023-03-01,5\n")), (Names{"day", "a"}));
  EXPECT_EQ(names_of(table_of("sep=up,a\n1,2\n")), (Names{"sep=up", "a"}));
}

TEST(Csv, LeavesCommentsOut) {
  const CsvTable head = table_of("# station 17, logger\n% height\n// x\n! y\ndate,a,b\n2023-03-01,1,2\n");
  EXPECT_EQ(names_of(head), (Names{"date", "a", "b"}));
  EXPECT_THAT(head.notes, testing::ElementsAre("4 comment lines left out"));
  const CsvTable between = table_of("x,y\n1,2\n# a gap\n3,4\n#1,2,3\n");
  EXPECT_EQ(between.columns[1].numbers, (Numbers{2, 4}));
  EXPECT_THAT(between.notes, testing::ElementsAre("2 comment lines left out"));
  // numpy.savetxt writes the header as the last comment.
  const CsvTable named = table_of("# made today\n# time, x\n1,2.5\n2,3.5\n");
  EXPECT_EQ(names_of(named), (Names{"time", "x"}));
  EXPECT_EQ(named.rows, 2);
  EXPECT_THAT(named.notes,
              testing::ElementsAre("line 2, '# time, x', is read as the header", "1 comment line left out"));
  EXPECT_EQ(names_of(table_of("#,a\n0,5\n1,6\n")), (Names{"#", "a"}));
  // Units below the names, as in files of buoys: names differ, units repeat.
  const CsvTable units = table_of("#YY MM WSPD GST\n#yr mo m/s m/s\n2020 01 1.5 2.5\n2020 02 3.5 4.5\n");
  EXPECT_EQ(names_of(units), (Names{"YY", "MM", "WSPD", "GST"}));
  EXPECT_EQ(units.columns[3].numbers, (Numbers{2.5, 4.5}));
  EXPECT_THAT(units.notes, testing::IsSupersetOf({"line 1, '#YY MM WSPD GST', is read as the header",
                                                  "1 comment line left out"}));
  EXPECT_EQ(names_of(table_of("# x, y, z\n# a, b\n# m, m\n1,2\n3,4\n")), (Names{"a", "b"}));
  EXPECT_EQ(names_of(table_of("# a, b\n# x, y, z\n# m, m\n1,2\n3,4\n")), (Names{"1", "2"}))
      << "a line between them ends the search";
  // Rows with as many cells as the others are rows.
  EXPECT_EQ(table_of("name,y\n#1,2\n#2,4\n").columns[0].texts, (TextCells{"#1", "#2"}));
}

TEST(Csv, TakesCommasBetweenSpacesForDecimalMarks) {
  const CsvTable table = table_of("a b\n1,5 2,5\n3,5 4,25\n");
  EXPECT_EQ(names_of(table), (Names{"a", "b"}));
  EXPECT_EQ(table.columns[1].numbers, (Numbers{2.5, 4.25}));
  EXPECT_EQ(table_of("1,5 2,5\n3,5 4,25\n").columns[0].numbers, (Numbers{1.5, 3.5}));
  EXPECT_EQ(names_of(table_of("city,b\nNew York,5\nLos Angeles,6\n")), (Names{"city", "b"}));
  EXPECT_EQ(table_of("a,b\n1 500,2\n2 500,3\n").columns[0].numbers, (Numbers{1500, 2500}));
}

TEST(Csv, SaysWhichLinesStandAboveATable) {
  const auto advice = [](std::string above, std::string rows) {
    for (int i = 0; i < 5; ++i) rows += rows.substr(rows.rfind('\n', rows.size() - 2) + 1);
    return error_of(ErrorKind::data, [&] { table_of(above + rows); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(advice("Category: all\n\n", "Week,a,b\n2024-01-07,1,2\n"),
              HasSubstr("expected names or values of a table; the rows below line 2 have equal width: "
                        "data.skip_lines = 1-2 leaves out what stands above"));
  EXPECT_THAT(advice("Source, of all\n", "day,a,b\n2024-01-07,1,2\n"),
              HasSubstr("data.skip_lines = 1 leaves out what stands above"));
  // Columns between spaces, the header above a line of units; weather stations.
  EXPECT_THAT(
      advice("Armagh\nLat 54.352, 62 metres\n  yyyy mm tmax rain\n        degC mm\n",
             "  2020  1  5.5  60.1\n"),
      HasSubstr(
          "data.skip_lines = 1-2,4 leaves out what stands above, data.delimiter = space parts the cells"));
  EXPECT_THAT(advice("title, long\na;b;c\nunit;m\n", "1;2;3\n"), HasSubstr("data.skip_lines = 1,3 leaves"));
  EXPECT_THAT(advice("One sentence here.\n", "two words, again\n"),
              testing::Not(HasSubstr("data.delimiter = space")));
}

TEST(Csv, ReadsTablesThatProgramsPrint) {
  const std::pair<const char*, const char*> tables[] = {
      {"psql",
       "    date    | load | t\n------------+------+---\n 2024-01-01 |  3.5 | 1\n 2024-01-02 |    4 | 2\n"
       " 2024-01-03 |   -1 | 3\n(3 rows)\n\n"},
      {"mysql",
       "+------------+------+---+\n| date       | load | t |\n+------------+------+---+\n"
       "| 2024-01-01 |  3.5 | 1 |\n| 2024-01-02 |    4 | 2 |\n| 2024-01-03 |   -1 | 3 |\n"
       "+------------+------+---+\n3 rows in set (0.00 sec)\n"},
      {"sqlcmd",
       "date       load        t\r\n---------- ----------- -\r\n2024-01-01         3.5 1\r\n"
       "2024-01-02           4 2\r\n2024-01-03          -1 3\r\n\r\n(3 rows affected)\r\n"},
      {"sqlite",
       "date        load  t\n----------  ----  -\n2024-01-01  3.5   1\n2024-01-02  4     2\n"
       "2024-01-03  -1    3\n"},
      {"Markdown",
       "| date | load | t |\n|---|---:|:--:|\n| 2024-01-01 | 3.5 | 1 |\n| 2024-01-02 | 4 | 2 |\n"
       "| 2024-01-03 | -1 | 3 |\n"},
      {"reStructuredText",
       "==========  ====  =\ndate        load  t\n==========  ====  =\n2024-01-01  3.5   1\n"
       "2024-01-02  4     2\n2024-01-03  -1    3\n==========  ====  =\n"},
      {"commas",
       "date,load,t\n---,---,---\n2024-01-01,3.5,1\n2024-01-02,4,2\n2024-01-03,-1,3\n(3 rows affected)"},
  };
  for (const auto& [name, text] : tables) {
    const CsvTable table = table_of(text);
    ASSERT_EQ(table.columns.size(), 3u) << name;
    EXPECT_EQ(table.columns[0].name, "date") << name;
    EXPECT_EQ(table.columns[0].dates, (std::vector<int64_t>{1704067200, 1704153600, 1704240000})) << name;
    EXPECT_EQ(table.columns[1].name, "load") << name;
    EXPECT_EQ(table.columns[1].numbers, (Numbers{3.5, 4, -1})) << name;
    EXPECT_EQ(table.columns[2].numbers, (Numbers{1, 2, 3})) << name;
    EXPECT_THAT(table.notes, testing::Contains(testing::HasSubstr("the table and"))) << name;
  }
  EXPECT_THAT(table_of(tables[1].second).notes,
              testing::Contains(
                  "lines 1, 3, 7, 8, such as '+------------+------+---+', frame the table and are left out"));
  EXPECT_THAT(table_of(tables[3].second).notes,
              testing::Contains("line 2, such as '----------  ----  -', frames the table and is left out"));
}

TEST(Csv, TakesOnlyRulesOfDashesForAFrame) {
  // A row of missing marks, a row of dashes that is not a rule above, and a count without a rule.
  EXPECT_EQ(table_of("a,b\n-,-\n1,2\n3,4\n").rows, 3);
  EXPECT_EQ(table_of("a,b\n--,--\n1,2\n3,4\n").rows, 3);
  EXPECT_EQ(table_of("a,b\n1,2\n3,4\n---,---\n").rows, 3);
  EXPECT_EQ(table_of("a,b\n---,---\n1,2\n3,4\n-,-\n").rows, 3);
  EXPECT_THAT(error_of(ErrorKind::data, [] { table_of("a,b\n1,2\n3,4\n(2 rows)\n"); }),
              testing::HasSubstr("data.skip_lines = 4 leaves it out"));
}

TEST(Csv, ReadsRowNamesWithoutAName) {
  // write.table of R; print of pandas; dates as row names; a date below its name is not a row name.
  const CsvTable r = table_of(
      "\"date\" \"load\"\n\"1\" \"2024-01-01\" 3\n\"2\" \"2024-01-02\" 4.5\n\"3\" \"2024-01-03\" 5\n");
  EXPECT_EQ(names_of(r), (Names{"column 1", "date", "load"}));
  EXPECT_EQ(r.columns[1].dates, (std::vector<int64_t>{1704067200, 1704153600, 1704240000}));
  const CsvTable pandas = table_of("   load  temp\n0   3.0   0.1\n1   4.5   0.2\n2   5.0   NaN\n");
  EXPECT_EQ(names_of(pandas), (Names{"column 1", "load", "temp"}));
  EXPECT_EQ(pandas.columns[1].numbers, (Numbers{3, 4.5, 5}));
  const CsvTable dates =
      table_of("\"load\" \"temp\"\n\"2024-01-01\" 3 1\n\"2024-01-02\" 4 2\n\"2024-01-03\" 5 3\n");
  EXPECT_EQ(names_of(dates), (Names{"column 1", "load", "temp"}));
  EXPECT_EQ(dates.columns[0].kind, CsvColumn::date);
  EXPECT_THAT(error_of(ErrorKind::data,
                       [] { table_of("date,load\n2024-01-01,3,1\n2024-01-02,4,2\n2024-01-03,5,3\n"); }),
              testing::HasSubstr("expected 2 cells as in the header, got 3"));
}

TEST(Csv, ReadsDatesAndClockTimesUnderOneName) {
  const std::pair<const char*, Names> tables[] = {
      {"date load\n2024-01-01 00:00 3\n2024-01-01 01:00 4\n2024-01-01 02:00 5\n", {"date", "time", "load"}},
      {"date time\n2024-01-01 00:00 3\n2024-01-01 01:00 4\n2024-01-01 02:00 5\n", {"date", "clock", "time"}},
      {"  date load\n0 2024-01-01 00:00 3\n1 2024-01-01 01:00 4\n2 2024-01-01 02:00 5\n",
       {"column 1", "date", "time", "load"}},
      {"  load\n2024-01-01 00:00 3\n2024-01-01 01:00 4\n2024-01-01 02:00 5\n", {"column 1", "time", "load"}},
  };
  for (const auto& [text, names] : tables) {
    const CsvTable table = table_of(text);
    EXPECT_EQ(names_of(table), names) << text;
    EXPECT_EQ(table.columns.back().numbers, (Numbers{3, 4, 5})) << text;
    const size_t date = table.columns.size() - 3;
    EXPECT_EQ(table.columns[date].dates, (std::vector<int64_t>(3, 1704067200))) << text;
    EXPECT_THAT(table.notes, testing::Contains(fmt::format(
                                 "columns {} and {}, dates and clock times, share one name in the header",
                                 date + 1, date + 2)));
  }
}

TEST(Csv, NamesTextsOfOtherFormats) {
  const std::pair<const char*, const char*> texts[] = {
      {"[\n  {\n    \"a\": 1\n  }\n]\n", "JSON; write it as CSV, in Python pandas.read_json(file).to_csv(…)"},
      {"{ \"a\": [1, 2] }\n", "JSON; write it as CSV, in Python pandas.read_json(file).to_csv(…)"},
      {"[[1, 2],\n[3, 4]]\n", "JSON; write it as CSV, in Python pandas.read_json(file).to_csv(…)"},
      {"{\"a\": 1}\r\n{\"a\": 2}\r\n",
       "JSON lines; write it as CSV, in Python pandas.read_json(file, lines=True).to_csv(…)"},
      {"\n \r\n{\"a\": 1}\n{\"a\": 2}\n",
       "JSON lines; write it as CSV, in Python pandas.read_json(file, lines=True).to_csv(…)"},
      {"\n{\"a\":\n[1]}", "JSON; write it as CSV, in Python pandas.read_json(file).to_csv(…)"},
      {"[\"2024-01-01\", 1]\n[\"2024-01-02\", 2]\n",
       "JSON lines; write it as CSV, in Python pandas.read_json(file, lines=True).to_csv(…)"},
      {"{| class=\"wikitable\"\n! a\n|-\n| 1\n|}\n", "MediaWiki; export it as CSV"},
      {"CREATE TABLE t (a REAL);\nINSERT INTO t VALUES (1);\n",
       "SQL; run it in a database and export the table as CSV"},
      {"\\begin{tabular}{l}\na \\\\\n1 \\\\\n", "LaTeX; export it as CSV"},
      {"\u250c───┐\n│ a │\n├───┤\n│ 1 │\n└───┘\n", "a table drawn with lines; export it as CSV"},
  };
  for (const auto& [text, expected] : texts)
    EXPECT_EQ(error_of(ErrorKind::data, [&, text = text] { table_of(text); }),
              std::string("file: expected a table, got ") + expected);
}

TEST(Csv, LeavesLinesOutThatTheOptionsName) {
  CsvOptions options;
  options.skip_lines = {{6, 6}, {1, 3}};
  const CsvTable table =
      table_of("Station;7\n\nMade by hand\ndate,a\n2023-03-01,1\nUTC,K\n2023-03-02,2\n", options);
  EXPECT_EQ(names_of(table), (Names{"date", "a"}));
  EXPECT_EQ(table.columns[1].numbers, (Numbers{1, 2}));
}

TEST(Csv, LeavesRowsAndColumnsOfDelimitersAloneOut) {
  const CsvTable table = table_of("d;a;;b;;\n2023-03-01;1;;2;;\n2023-03-02;3;;4;;\n;;;;;\n ; ;;;;\n\n");
  EXPECT_EQ(names_of(table), (Names{"d", "a", "b"}));
  EXPECT_EQ(table.rows, 2);
  EXPECT_THAT(table.notes, testing::ElementsAre("2 rows of delimiters alone at the end left out",
                                                "3 empty columns without a name left out"));
  // A row between others stays: its values are missing.
  EXPECT_EQ(table_of("a,b\n1,2\n,\n3,4\n").rows, 3);
  const CsvTable nameless = table_of("d,,a\n2023-03-01,,5\n2023-03-02,7,6\n");
  EXPECT_EQ(names_of(nameless), (Names{"d", "column 2", "a"}));
  EXPECT_THAT(nameless.notes, testing::ElementsAre("column 2 has no name, it is called 'column 2'"));
  EXPECT_THAT(message_of(try_csv, "a,b\n,\n"), testing::HasSubstr("a header without rows"));
}

}  // namespace
}  // namespace modewise::io
