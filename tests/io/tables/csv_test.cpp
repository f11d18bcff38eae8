#include "modewise/io/tables/csv.h"

#include <cmath>
#include <filesystem>

#include "tests/error_of.h"
#include "tests/io/damage.h"
#include "tests/io/tables/csv_tables.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

TEST(Csv, ReadsDatesNumbersAndText) {
  const CsvTable table = table_of("date,OT,wd\n2016-07-01 00:00:00,1.5,NNW\n2016-07-01 01:00:00,-2,N\n");
  EXPECT_EQ(table.rows, 2);
  EXPECT_TRUE(table.had_header);
  EXPECT_EQ(names_of(table), (Names{"date", "OT", "wd"}));
  EXPECT_EQ(table.columns[0].kind, CsvColumn::date);
  EXPECT_EQ(table.columns[0].dates[1] - table.columns[0].dates[0], 3600);
  EXPECT_EQ(table.columns[1].kind, CsvColumn::number);
  EXPECT_EQ(table.columns[1].numbers, (Numbers{1.5, -2}));
  EXPECT_EQ(table.columns[2].kind, CsvColumn::text);
  EXPECT_EQ(table.columns[2].texts, (TextCells{"NNW", "N"}));
  EXPECT_EQ(table.find("OT"), &table.columns[1]);
  EXPECT_EQ(table.find("ot"), nullptr);
}

TEST(Csv, GivesTheSameCellsAsPythonsCsvModule) {
  const auto vectors = load_vectors("csv.json");
  for (const auto& test : vectors["tables"]) {
    CsvOptions options;
    options.delimiter = ',';
    options.header = CsvOptions::yes;
    const CsvTable table = table_of(test["text"].get<std::string>(), options);
    EXPECT_EQ(names_of(table), test["header"].get<Names>());
    ASSERT_EQ(table.rows, static_cast<int64_t>(test["rows"].size()));
    for (size_t row = 0; row < test["rows"].size(); ++row) {
      for (size_t c = 0; c < table.columns.size(); ++c) {
        EXPECT_EQ(table.columns[c].texts[row], test["rows"][row][c].get<std::string>());
      }
    }
  }
}

TEST(Csv, AcceptsEveryLineEnd) {
  for (const char* text : {"a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4", "a,b\n1,2\n3,4",
                           "\n\na,b\n\n1,2\r\n\r\n3,4\n\n\n", "\xEF\xBB\xBF\x61,b\n1,2\n3,4\n",
                           "\"a\",\"b\"\n\"1\",\"2\" \n3,4\n", " a , b \n 1 , +2 \n 3 ,\t4\n"}) {
    const CsvTable table = table_of(text);
    EXPECT_EQ(names_of(table), (Names{"a", "b"})) << text;
    ASSERT_EQ(table.rows, 2) << text;
    EXPECT_EQ(table.columns[0].numbers, (Numbers{1, 3})) << text;
    EXPECT_EQ(table.columns[1].numbers, (Numbers{2, 4})) << text;
  }
}

TEST(Csv, GuessesTheDelimiter) {
  EXPECT_EQ(table_of("a;b\n1;2\n").delimiter, ';');
  EXPECT_EQ(table_of("a\tb\n1\t2\n").delimiter, '\t');
  EXPECT_EQ(table_of("a|b\n1|2\n").delimiter, '|');
  EXPECT_EQ(table_of("a,b\n1,2\n").delimiter, ',');
  EXPECT_EQ(table_of("a\n1\n2\n").columns.size(), 1u);
  EXPECT_EQ(table_of("time;x;y\n2016-07-01 00:00;1,5;2\n2016-07-01 01:00;1,75;3\n").delimiter, ';');
  EXPECT_EQ(table_of("\"x;y\",b\n\"1;2\",5\n\"3;4\",6\n").delimiter, ',');
}

TEST(Csv, ReadsADecimalComma) {
  const CsvTable table = table_of("time;x\n01.07.2016 00:00;1,5\n01.07.2016 01:00;-2\n01.07.2016 02:00;\n");
  EXPECT_EQ(table.decimal, ',');
  EXPECT_EQ(table.columns[1].numbers[0], 1.5);
  EXPECT_EQ(table.columns[1].numbers[1], -2);
  EXPECT_TRUE(std::isnan(table.columns[1].numbers[2]));
  EXPECT_EQ(table.columns[0].date_style.order, DateStyle::day_first);
}

TEST(Csv, GuessesTheHeader) {
  EXPECT_FALSE(table_of("0.7855,1.611\n0.7818,1.61\n").had_header);
  EXPECT_EQ(names_of(table_of("0.7855,1.611\n0.7818,1.61\n")), (Names{"1", "2"}));
  EXPECT_TRUE(table_of("date,0,1,OT\n2016-07-01,1,2,3\n").had_header);
  EXPECT_FALSE(table_of("2016-07-01,1,x\n2016-07-02,1,y\n").had_header);
  EXPECT_TRUE(table_of("name,kind\nx,y\n").had_header);
  EXPECT_TRUE(table_of(",a,b\n0,1,2\n1,3,4\n").had_header);
  EXPECT_EQ(table_of(",a,b\n0,1,2\n1,3,4\n").columns[0].name, "column 1");
  EXPECT_TRUE(table_of("0,1,2\n0.5,1.25,2.5\n0.25,3.0,1.0\n").had_header);
  EXPECT_FALSE(table_of("0,1,2\n3,4,5\n").had_header);
  EXPECT_THAT(message_of(try_csv, "n/d,1.5,2\n3,4,5\n6,7,8\n"), testing::HasSubstr("file:1: column '1'"));
  EXPECT_FALSE(table_of("5\n").had_header);
  CsvOptions no;
  no.header = CsvOptions::no;
  EXPECT_EQ(table_of("a,b\nc,d\n", no).rows, 2);
  CsvOptions yes;
  yes.header = CsvOptions::yes;
  EXPECT_EQ(names_of(table_of("1,2\n3,4\n", yes)), (Names{"1", "2"}));
}

TEST(Csv, TakesWholeNumbersUnlikeTheValuesBelowAsNames) {
  const std::string values = "64.375,67.625,67\n62.5,68.5,65.25\n64,63.75,60\n";
  const CsvTable sensors = table_of("773869,767541,767542\n" + values);
  EXPECT_EQ(names_of(sensors), (Names{"773869", "767541", "767542"}));
  EXPECT_EQ(sensors.rows, 3);
  EXPECT_EQ(sensors.suspect_row, "773869, 767541, 767542");
  EXPECT_EQ(names_of(table_of(",773869,767541\n2012-03-01 00:00,64.375,67.5\n2012-03-01 00:05,62.5,68.5\n")),
            (Names{"column 1", "773869", "767541"}));
  const CsvTable above_dates = table_of("0,1\n2012-03-01,64\n2012-03-02,62\n");
  EXPECT_EQ(names_of(above_dates), (Names{"0", "1"}));
  EXPECT_EQ(above_dates.suspect_row, "");
  EXPECT_TRUE(table_of("773869\n64.375\n62.5\n64\n").had_header);
  // The same with explicit options.
  CsvOptions no;
  no.header = CsvOptions::no;
  const CsvTable data = table_of("773869,767541,767542\n" + values, no);
  EXPECT_EQ(data.rows, 4);
  EXPECT_EQ(data.columns[0].numbers[0], 773869);
  EXPECT_EQ(data.suspect_row, "");
}

TEST(Csv, TakesWholeNumbersLikeTheValuesBelowAsValuesAndSaysSo) {
  const CsvTable counts = table_of("60,62,65,61,70\n61,63,64,62,71\n59,62,66,63,69\n60,61,65,64,70\n");
  EXPECT_FALSE(counts.had_header);
  EXPECT_EQ(counts.suspect_row, "60, 62, 65, 61, …");
  // The number format of a single column proves nothing, and equal numbers cannot be names.
  EXPECT_EQ(table_of("100\n99.5\n98.25\n99.75\n").suspect_row, "100");
  EXPECT_FALSE(table_of("100\n99.5\n98.25\n99.75\n").had_header);
  EXPECT_EQ(table_of("60,60\n61.5,63.5\n").suspect_row, "");
  EXPECT_FALSE(table_of("60,60\n61.5,63.5\n").had_header);
  EXPECT_EQ(table_of("60,,7\n61.5,63.5,7.5\n").suspect_row, "");
}

TEST(Csv, ReadsMissingCellsInEveryKind) {
  const CsvTable table =
      table_of("d,x,t\n2016-07-01,NA,a\nNA,2,\n2016-07-03, nan ,NA\n2016-07-04,\"\",b\n2016-07-05,NULL,c\n");
  EXPECT_EQ(table.columns[0].dates[1], kMissingDate);
  for (const size_t row : {0, 2, 3, 4}) EXPECT_TRUE(std::isnan(table.columns[1].numbers[row])) << row;
  EXPECT_EQ(table.columns[1].numbers[1], 2);
  EXPECT_EQ(table.columns[2].texts, (TextCells{"a", "", "", "b", "c"}));
}

TEST(Csv, ReadsMissingMarksThatAreNumbers) {
  CsvOptions options;
  options.missing.push_back("-9999");
  const CsvTable table = table_of("x\n1\n-9999\n-9999.0\n2\n", options);
  EXPECT_TRUE(std::isnan(table.columns[0].numbers[1]) && std::isnan(table.columns[0].numbers[2]));
  EXPECT_EQ(table_of("x\n1\n-9999\n").columns[0].numbers[1], -9999);
}

TEST(Csv, AllowsAColumnThatIsMissingThroughout) {
  const CsvTable table = table_of("a,b\n1,\n2,NA\n");
  EXPECT_EQ(table.columns[1].kind, CsvColumn::number);
  EXPECT_TRUE(std::isnan(table.columns[1].numbers[1]));
}

TEST(Csv, DropsTheEmptyColumnThatATrailingDelimiterLeaves) {
  EXPECT_EQ(table_of("a,b,\n1,2,\n3,4,\n").columns.size(), 2u);
  EXPECT_EQ(table_of("a,b,\n1,2,\n3,4,5\n").columns.size(), 3u);
  CsvOptions options;
  options.header = CsvOptions::no;
  EXPECT_EQ(names_of(table_of("1,2,\n3,4,\n", options)), (Names{"1", "2", "3"}));
  options.header = CsvOptions::yes;
  EXPECT_EQ(names_of(table_of("\"\"\nNA\n", options)), Names{"column 1"});
}

// The first hundred rows are misleading; the whole file decides.
TEST(Csv, DecidesKindsOverTheWholeFile) {
  std::string text = "x,y,z\n";
  for (int i = 0; i < 150; ++i) text += "1,2016-07-01,01/02/2016\n";
  for (int i = 0; i < 200; ++i) text += "a" + std::to_string(i) + ",b,x\n";
  const CsvTable table = table_of(text);
  EXPECT_EQ(table.columns[0].kind, CsvColumn::text);
  EXPECT_EQ(table.columns[0].texts[0], "1");
  EXPECT_EQ(table.columns[0].texts[349], "a199");
  EXPECT_EQ(table.columns[1].kind, CsvColumn::text);
  EXPECT_EQ(table.columns[2].kind, CsvColumn::text);
  EXPECT_EQ(table.columns[2].texts[0], "01/02/2016");
}

TEST(Csv, NamesTheFirstTextOfANumberColumnThatBeginsWithText) {
  std::string text = "x\n";
  for (int i = 0; i < 101; ++i) text += "n/d\n";
  for (int i = 0; i < 200; ++i) text += "5\n";
  EXPECT_THAT(message_of(try_csv, text), testing::HasSubstr("file:2: column 'x' holds numbers, but 'n/d'"));
}

TEST(Csv, NamesTheFirstTextOfADateColumnThatBeginsWithText) {
  std::string text = "x\n";
  for (int i = 0; i < 101; ++i) text += "n/d\n";
  for (int i = 0; i < 200; ++i) text += "2016-07-01\n";
  EXPECT_THAT(message_of(try_csv, text), testing::HasSubstr("file:2: column 'x' holds dates like"));
}

TEST(Csv, KeepsMixedDateFormsAsText) {
  std::string text = "d,x\n";
  for (int i = 0; i < 3; ++i) text += "2016-07-01,1\n01/02/2016,2\n2016.07.01,3\n";
  EXPECT_EQ(table_of(text).columns[0].kind, CsvColumn::text);
}

TEST(Csv, ReadsCompactDatesOnlyWhereTheNameSaysSo) {
  const CsvTable table = table_of("Date,code\n20160701,20160701\n20160702,20160702\n");
  EXPECT_EQ(table.columns[0].kind, CsvColumn::date);
  EXPECT_EQ(format_date_time(table.columns[0].dates[1], table.columns[0].date_style), "20160702");
  EXPECT_EQ(table.columns[1].kind, CsvColumn::number);
  EXPECT_EQ(table_of("date,x\n1,5\n2,6\n").columns[0].kind, CsvColumn::number);
  EXPECT_EQ(table_of("date,x\n20161332,5\n20160702,6\n").columns[0].kind, CsvColumn::number);
}

TEST(Csv, TellsWhichOrderOfDayAndMonthWasTaken) {
  const CsvTable guessed = table_of("d,x\n01/02/2016,1\n01/03/2016,2\n");
  EXPECT_TRUE(guessed.columns[0].date_style.order_guessed);
  EXPECT_EQ(guessed.columns[0].date_style.order, DateStyle::month_first);
  const CsvTable decided = table_of("d,x\n01/02/2016,1\n02/02/2016,1\n13/02/2016,2\n");
  EXPECT_FALSE(decided.columns[0].date_style.order_guessed);
  EXPECT_EQ(decided.columns[0].date_style.order, DateStyle::day_first);
}

TEST(Csv, ReadsDottedDatesDayFirstFromTheFirstRowOn) {
  std::string text = "d,x\n";
  for (int day = 1; day <= 13; ++day) text += fmt::format("{:02}.01.2020 00:00,{}\n", day, day);
  const CsvColumn days = table_of(text).columns[0];
  EXPECT_EQ(days.date_style.order, DateStyle::day_first);
  EXPECT_FALSE(days.date_style.order_guessed);
  for (int day = 1; day <= 13; ++day)
    EXPECT_EQ(days.dates[static_cast<size_t>(day - 1)], to_seconds({2020, 1, day}));
}

/// UTF-16LE with a byte order mark, for characters of the basic plane.
std::string utf16(std::u16string_view text) {
  std::string bytes = "\xFF\xFE";
  for (const char16_t c : text) bytes += {static_cast<char>(c & 0xFF), static_cast<char>(c >> 8)};
  return bytes;
}

std::string other_order(std::string bytes) {
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) std::swap(bytes[i], bytes[i + 1]);
  return bytes;
}

TEST(Csv, ReadsUtf16OfBothOrders) {
  const std::string bytes = utf16(u"day\tW/m\u00B2\t\u96E8\t\U0001F30D\r\n01-Mar-2020\t1,5\t2\t3\r\n");
  for (const std::string& text : {bytes, other_order(bytes)}) {
    const CsvTable table = table_of(text);
    EXPECT_EQ(names_of(table), (std::vector<std::string>{"day", "W/m²", "雨", "🌍"}));
    EXPECT_EQ(table.columns[0].dates, std::vector<int64_t>{1583020800});
    EXPECT_EQ(table.columns[1].numbers, std::vector<double>{1.5});
    EXPECT_EQ(table.columns[3].numbers, std::vector<double>{3});
  }
}

TEST(Csv, ReadsColumnsOfMonthsNamesInOneForm) {
  const CsvTable table = table_of(
      "d,e,f\n01-Apr-2020,May 2020,2020Q1\n02-May-2020,June 2020,2020Q2\n03-Dec-2020,Jul 2020,2020Q3\n");
  EXPECT_EQ(table.columns[0].dates, (std::vector<int64_t>{1585699200, 1588377600, 1606953600}));
  EXPECT_EQ(format_date_time(0, table.columns[0].date_style), "01-Jan-1970");
  EXPECT_EQ(table.columns[1].dates, (std::vector<int64_t>{1588291200, 1590969600, 1593561600}));
  EXPECT_EQ(format_date_time(0, table.columns[1].date_style), "January 1970");
  EXPECT_EQ(table.columns[2].dates, (std::vector<int64_t>{1577836800, 1585699200, 1593561600}));
}

TEST(Csv, KeepsReplacementCharactersInNames) {
  EXPECT_EQ(table_of("date,PAR (\xEF\xBF\xBDmol)\n2016-07-01,1\n").columns[1].name, "PAR (\xEF\xBF\xBDmol)");
}

TEST(Csv, RefusesWithThePlace) {
  const std::string rows = "a,b\n1,2\n3,4\n";
  std::string wide;
  for (int i = 0; i < 100'001; ++i) wide += i == 0 ? "x" : ",x";
  const std::vector<Corruption> corruptions = {
      {"empty", "", "file: the file is empty"},
      {"only a byte order mark", "\xEF\xBB\xBF", "file: the file has only empty lines"},
      {"blank lines", "\n\r\n\n", "file: the file has only empty lines"},
      {"spaces", "   \n  ", "file: the file has only empty lines"},
      {"only a header", "date,OT\n", "file: a header without rows"},
      {"only a header without line end", "date,OT", "file: a header without rows"},
      {"short row", rows + "5\n",
       "file:4: expected 2 cells as in the header, got 1; data.skip_lines = 4 leaves it "
       "out"},
      {"long row", rows + "5,6,7\n",
       "file:4: expected 2 cells as in the header, got 3; data.skip_lines = 4 leaves it "
       "out"},
      {"long row without header", "0.5,1\n0.5,1,2\n",
       "file:2: expected 2 cells as in the first row, got 3; data.skip_lines = 2 leaves it "
       "out"},
      {"short row after a quoted line end", "a,b\n\"x\ny\",2\n3\n",
       "file:4: expected 2 cells as in the header, got 1; data.skip_lines = 4 leaves it "
       "out"},
      {"sentences at the end", rows + "\nSource: a bank\nProvisional, to be revised\n",
       "file:5: expected 2 cells as in the header, got 1; data.skip_lines = 5-6 leaves out the lines at the "
       "end"},
      {"a short row of texts", "a,b\nx,y\nz\nx,y\n",
       "file:3: expected 2 cells as in the header, got 1; data.skip_lines = 3 leaves it out"},
      {"text in numbers", rows + "x,6\n",
       "file:4: column 'a' holds numbers, but 'x' is not a finite number; one cell "
       "holds it: data.missing_texts = x reads it as missing"},
      {"half a number", rows + "5 6,6\n",
       "file:4: column 'a' holds numbers, but '5 6' is not a finite number; one cell "
       "holds it: data.missing_texts = 5 6 reads it as missing"},
      {"infinity", rows + "inf,6\n",
       "file:4: column 'a' holds numbers, but 'inf' is not a finite number; one cell "
       "holds it: data.missing_texts = inf reads it as missing"},
      {"1e999", rows + "1e999,6\n",
       "file:4: column 'a' holds numbers, but '1e999' is not a finite number; one cell "
       "holds it: data.missing_texts = 1e999 reads it as missing"},
      {"decimal comma and decimal point", "x;y\n1,5;2\n2.5;3\n",
       "file:3: column 'x' holds numbers like '1,5', but '2.5' has other marks; write all numbers "
       "of the column alike"},
      {"thousands or decimals", rows + "\"1,000\",6\n",
       "file:4: column 'a' holds '1,000', which can be 1000 or 1: set data.thousands = , if the comma groups "
       "thousands, data.decimal = , if it is the decimal mark"},
      {"thousands or decimals with points", "x;y\n900;5\n1.737;6\n",
       "file:3: column 'x' holds '1.737', which can be 1737 or 1.737: set data.thousands = . if the point "
       "groups thousands, data.decimal = . if it is the decimal mark"},
      {"a percent sign left out", "x\n5%\n6%\n0.5\n",
       "file:4: column 'x' holds percentages, but '0.5' has no percent sign"},
      {"two currencies", "x\n$5\n\u20AC5\n",
       "file:3: column 'x' holds more than one currency: '\u20AC5' is in another one than above"},
      {"a dash in accounts", "x\n$5\n-\n",
       "file:3: column 'x' holds amounts of money, where '-' can be 0 or a missing value: data.missing_texts "
       "= - reads "
       "it as missing, 0 in its place as 0"},
      {"texts of missing cells", "x,y\n1,2\nBad,3\nBad,4\n2,5\n",
       "file:3: column 'x' holds numbers, but 'Bad' is not a finite number; 2 cells hold it: "
       "data.missing_texts = Bad reads them as missing"},
      {"a row of units", "time,t\nUTC,K\n2024-01-01,5\n2024-01-02,6\n",
       "file:2: column 'time' holds dates like year-month-day, but 'UTC' is not one; line 2 looks like units "
       "or "
       "further headers: data.skip_lines = 2 leaves it out, data.header_rows = 2 adds it to the names"},
      {"three headers", "Price,Close\nTicker,XYZ\nDate,\n2024-01-01,5\n2024-01-02,6\n",
       "file:2: column 'Price' holds dates like year-month-day, but 'Ticker' is not one; lines 2,3 look like "
       "units or further headers: data.skip_lines = 2,3 leaves them out, data.header_rows = 3 adds them to "
       "the "
       "names"},
      {"a comment in one column", "x\n1\n# gap\n2\n",
       "file:3: column 'x' holds numbers, but '# gap' is not a finite number; data.skip_lines = 3 leaves the "
       "line out"},
      {"UTF-16 without a mark", std::string("a\0,\0b\0\n\0", 8),
       "file: the file seems to be UTF-16 without a byte order mark; save it as UTF-8"},
      {"date in numbers", rows + "2016-07-01,6\n",
       "file:4: column 'a' holds numbers, but '2016-07-01' is not a finite number; one cell "
       "holds it: data.missing_texts = 2016-07-01 reads it as missing"},
      {"text in dates", "d,x\n2016-07-01,1\n2016-07-02,1\nsoon,1\n",
       "file:4: column 'd' holds dates like year-month-day, but 'soon' is not one; data.skip_lines = 4 "
       "leaves the line out"},
      {"31 June", "d,x\n2016-06-29,1\n2016-06-30,1\n2016-06-31,1\n",
       "file:4: column 'd' holds dates like year-month-day, but '2016-06-31' is not one; data.skip_lines = 4 "
       "leaves the line out"},
      {"29 February 2015", "d,x\n2015-02-27,1\n2015-02-28,1\n2015-02-29,1\n",
       "file:4: column 'd' holds dates like year-month-day, but '2015-02-29' is not one; data.skip_lines = 4 "
       "leaves the line out"},
      {"number in dates", "d,x\n2016-06-29,1\n2016-06-30,1\n5,1\n",
       "file:4: column 'd' holds dates like year-month-day, but '5' is not one; data.skip_lines = 4 "
       "leaves the line out"},
      {"date of another form", "d,x\n2016-06-29,1\n2016-06-30,1\n01.07.2016,1\n",
       "file:4: column 'd' holds dates like year-month-day, but '01.07.2016' is not one; data.skip_lines = 4 "
       "leaves the line out"},
      {"orders mixed", "d,x\n13/01/2016,1\n01/13/2016,1\n",
       "file: column 'd' mixes dates that can only be month/day with dates that can only be day/month"},
      {"two forms of named months", "d\n01-Apr-2020\n2020-May-01\n",
       "file:3: column 'd' holds dates like day-month-year, but '2020-May-01' is not one; data.skip_lines = "
       "3 "
       "leaves the line out"},
      {"open quote", rows + "\"5,6\n7,8\n", "file:4: unclosed quote in cell 1"},
      {"open quote in the header", "\"a,b\n1,2\n", "file:1: unclosed quote in cell 1"},
      {"text after a quote", rows + "\"5\"x,6\n", "file:4: text after the closing quote of cell 1: 'x'"},
      {"NUL", std::string("a,b\n1,\0\n", 8), "file:2: NUL at byte 6: not a text file"},
      {"latin-1", "a,b\n1,\xB5\n", "file:2: byte 6 (0xb5) is not UTF-8; save the file as UTF-8"},
      {"latin-1 header", "a,W/m\xB2\n1,2\n", "file:1: byte 5 (0xb2) is not UTF-8; save the file as UTF-8"},
      {"cut character", "a,b\n1,\xE2\x82", "file:2: byte 6 (0xe2) is not UTF-8; save the file as UTF-8"},
      {"UTF-16 that ends within a character", std::string("\xFF\xFE\x61\x00\x62", 5),
       "file: UTF-16 ends within a character, at byte 5"},
      {"UTF-16 with a first half alone", std::string("\xFE\xFF\xD8\x00\x00\x61", 6),
       "file: unpaired UTF-16 surrogate at byte 2"},
      {"UTF-16 with a first half at the end", std::string("\xFE\xFF\x00\x61\xD8\x00", 6),
       "file: unpaired UTF-16 surrogate at byte 4"},
      {"UTF-16 with a second half alone", std::string("\xFF\xFE\x00\xDC\x61\x00", 6),
       "file: unpaired UTF-16 surrogate at byte 2"},
      {"UTF-16 with a NUL", utf16(u"a,b\n1,") + std::string(2, '\0'),
       "file:2: NUL at byte 6: not a text file"},
      {"UTF-16 of nothing", std::string("\xFF\xFE", 2), "file: the file has only empty lines"},
      {"much UTF-16", "\xFF\xFE" + std::string((size_t{32} << 20), 'a'),
       "file: the file has 33554434 bytes of UTF-16, the limit is 33554432; save it as UTF-8"},
      {"Parquet", "PAR1\x15\x04",
       "file: expected text, got a Parquet file; write it as CSV, in Python "
       "pandas.read_parquet(file).to_csv(…)"},
      {"Arrow", std::string("ARROW1\0", 7),
       "file: expected text, got an Arrow file; write it as CSV, in Python "
       "pandas.read_feather(file).to_csv(…)"},
      {"a zip file", std::string("PK\x03\x04\x14\x00", 6),
       "file: expected text, got a ZIP archive, such as .docx, .xlsx, .epub, .npz or .pt; save the sheet as "
       "CSV, or unpack the archive"},
      {"Excel before 2007", "\xD0\xCF\x11\xE0\xA1\xB1",
       "file: expected text, got an older Microsoft Office file (.xls, .doc); save the sheet as CSV"},
      {"gzip", "\x1F\x8B\x08", "file: expected text, got a gzip file; unpack it with gunzip"},
      {"bzip2", "BZh91AY&SY", "file: expected text, got a bzip2 file; unpack it with bunzip2"},
      {"xz",
       "\xFD"
       "7zXZ",
       "file: expected text, got an xz file; unpack it with unxz"},
      {"zstd", "\x28\xB5\x2F\xFD", "file: expected text, got a zstd file; unpack it with unzstd"},
      {"HDF5", "\x89HDF\r\n", "file: expected text, got an HDF5 file; write it as CSV or NPY"},
      {"SQLite", "SQLite format 3", "file: expected text, got an SQLite database; export the table as CSV"},
      {"two columns of one name", "a,b,a\n1,2,3\n", "file:1: columns 1 and 3 are both named 'a'"},
      {"names that the rows below tell apart",
       "Price,Close,Close\nTicker,AAA,BBB\nDate,,\n2024-01-01,5,6\n2024-01-02,6,7\n",
       "file:1: columns 2 and 3 are both named 'Close'; data.header_rows = 3 adds the texts below to the "
       "names"},
      {"same name but for spaces", "a, a\n1,2\n", "file:1: columns 1 and 2 are both named 'a'"},
      {"two unnamed that clash", "column 2,\n1,2\n", "file:1: columns 1 and 2 are both named 'column 2'"},
      {"100,001 columns", wide + "\n" + wide + "\n", "file:1: 100001 columns; the limit is 100000"},
  };
  EXPECT_GE(corruptions.size(), 35u);
  expect_refused(try_csv, corruptions);
}

TEST(Csv, JoinsTheRowsOfAHeader) {
  CsvOptions options;
  options.header_rows = 3;
  const std::string rows = "2024-01-01,5,6\n2024-01-02,6,7\n";
  for (const std::string header : {"Price,Close,Close\nTicker,AAA, BBB \nDate,,\n",
                                   "# of a source\nPrice,Close,Close\n\nTicker,AAA,BBB\n\nDate,,\n\n",
                                   "Price,Close,Close\nTicker,\"AAA\",\"BBB\"\nDate\n"}) {
    const CsvTable table = table_of(header + rows, options);
    ASSERT_EQ(table.columns.size(), 3) << header;
    EXPECT_EQ(table.columns[0].name, "Price Ticker Date");
    EXPECT_EQ(table.columns[1].name, "Close AAA");
    EXPECT_EQ(table.columns[2].name, "Close BBB");
    EXPECT_EQ(table.columns[0].kind, CsvColumn::date);
    EXPECT_EQ(table.rows, 2);
  }
  options.header_rows = 2;
  const CsvTable numbers = table_of("1,2\n3,4\n5,6\n7,8\n", options);  // names of numbers
  EXPECT_EQ(numbers.columns[1].name, "2 4");
  EXPECT_EQ(numbers.rows, 2);
  for (const auto& [text, message] :
       {std::pair("a,b\n", "file: data.header_rows = 2 leaves no rows below the header: the file has 1 row"),
        {"a,b\nc,d\n", "file: data.header_rows = 2 leaves no rows below the header: the file has 2 rows"},
        {"a,a\nc,c\n1,2\n", "file:1: columns 1 and 2 are both named 'a c'"},
        {"a,b\nc,d\nkg,m\n1,2\n",
         "file:3: column 'a c' holds numbers, but 'kg' is not a finite number; "
         "line 3 looks like units or further "
         "headers: data.skip_lines = 3 leaves it out"}})
    EXPECT_EQ(error_of(ErrorKind::data, [&, text = text] { table_of(text, options); }), message);
}

TEST(Csv, QuotesLongTextsShort) {
  const std::string message = message_of(try_csv, "a\n1\n2\n" + std::string(100'000, 'x') + "\n");
  EXPECT_THAT(message, testing::HasSubstr("file:4"));
  EXPECT_LT(message.size(), 200u);
}

TEST(Csv, SurvivesTruncationsAndFlips) {
  const std::string text =
      "date,\"a \"\"x\"\"\",wd\r\n2016-07-01 00:00,1.5e-3,\"N,\nW\"\r\n2016-07-01 "
      "01:00,NA,NE\r\n01/02/2016,+7,\"\"\r\n";
  for (size_t length = 0; length <= text.size(); ++length) message_of(try_csv, text.substr(0, length));
  expect_flips_are_clean(try_csv, text);
  expect_flips_are_clean(try_csv, "x;y\n1,5;2\n2,5;3\n");
  expect_flips_are_clean(try_csv, "0.5,1\n1.5,2\n");
}

// One long line, as in a hostile file, must not take a multiple of its size.
TEST(Csv, ReadsAWideLineWithinBounds) {
  EXPECT_THAT(message_of(try_csv, std::string(kLarge, ',')),
              testing::HasSubstr(std::to_string(kLarge + 1) + " columns"));
  EXPECT_THAT(message_of(try_csv, "\"" + std::string(kLarge, '\n')),
              testing::HasSubstr("unclosed quote in cell 1"));
  EXPECT_THAT(message_of(try_csv, std::string(kLarge, '"')), testing::HasSubstr("file"));
}

class RealData : public testing::Test {
 protected:
  CsvTable read(const std::string& name) {
    const std::string path = (data_folder() / name).string();
    if (!std::filesystem::exists(path)) return {};
    return read_csv(path);
  }
};

TEST_F(RealData, Etth1) {
  const CsvTable table = read("forecasting/ETTh1.csv");
  if (table.columns.empty()) GTEST_SKIP() << data_folder() << " does not hold it";
  EXPECT_EQ(table.rows, 17420);
  EXPECT_EQ(names_of(table), (Names{"date", "HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"}));
  EXPECT_EQ(format_date_time(table.columns[0].dates.back(), table.columns[0].date_style),
            "2018-06-26 19:00:00");
  EXPECT_EQ(table.columns[7].numbers[0], 30.5310001373291);
}

TEST_F(RealData, WeatherWithReplacementCharacters) {
  const CsvTable table = read("forecasting/weather.csv");
  if (table.columns.empty()) GTEST_SKIP() << data_folder() << " does not hold it";
  EXPECT_EQ(table.rows, 52696);
  EXPECT_EQ(table.columns.size(), 22u);
  EXPECT_EQ(table.columns[21].name, "OT");
  EXPECT_EQ(table.columns[21].numbers.back(), 436.5);
}

TEST_F(RealData, BeijingAirWithMissingCells) {
  const CsvTable table = read("order3/beijing-air/PRSA_Data_Aotizhongxin_20130301-20170228.csv");
  if (table.columns.empty()) GTEST_SKIP() << data_folder() << " does not hold it";
  EXPECT_EQ(table.rows, 35064);
  EXPECT_EQ(table.find("wd")->kind, CsvColumn::text);
  EXPECT_EQ(table.find("station")->texts[0], "Aotizhongxin");
  int64_t missing = 0;
  for (const CsvColumn& column : table.columns) {
    for (const double number : column.numbers) missing += std::isnan(number);
  }
  EXPECT_EQ(missing, 7190);
}

}  // namespace
}  // namespace modewise::io
