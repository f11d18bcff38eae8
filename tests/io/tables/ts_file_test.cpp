#include "modewise/io/tables/ts_file.h"

#include <cmath>
#include <filesystem>

#include "tests/data_folder.h"
#include "tests/io/damage.h"

namespace modewise::io {
namespace {

using testing::ElementsAre;

void parse(std::span<const std::byte> bytes) {
  parse_ts(bytes, "file");
}
SeriesFile file_of(std::string_view text) {
  return parse_ts(to_bytes(text), "file");
}

constexpr const char* small =
    "#a comment\n@problemName Two words\n@timeStamps false\n@missing true\n@univariate false\n@dimensions 2\n"
    "@equalLength true\n@seriesLength 3\n@classLabel true xx yy\n@data\n"
    "1,2,3:4,?,6:yy\n-1e1,.5,+2:NaN,0,7.:xx\n";

TEST(TsFile, ReadsDimensionsMissingValuesAndClasses) {
  const SeriesFile file = file_of(small);
  EXPECT_EQ(file.name, "Two words");
  EXPECT_EQ(file.dimensions, 2);
  EXPECT_EQ(file.missing, 2);
  EXPECT_THAT(file.classes, ElementsAre("xx", "yy"));
  EXPECT_THAT(file.labels, ElementsAre(1, 0));
  EXPECT_THAT(file.lengths, ElementsAre(3, 3));
  ASSERT_EQ(file.values.size(), 12u);
  EXPECT_TRUE(std::isnan(file.values[4]) && std::isnan(file.values[9]));
  EXPECT_THAT(std::span(file.values).first(4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(std::span(file.values).subspan(5, 4), ElementsAre(6, -10, 0.5f, 2));
}

TEST(TsFile, ReadsUnequalLengthsAndCasesWithoutClasses) {
  const SeriesFile file = file_of(
      "\xEF\xBB\xBF@PROBLEMNAME p\r\n@Univariate TRUE\r\n@equallength false\r\n@CLASSLABEL false\r\n@DATA\r\n"
      " 1 , 2 \r\n\r\n# between\r\n3\r\n");
  EXPECT_THAT(file.lengths, ElementsAre(2, 1));
  EXPECT_THAT(file.values, ElementsAre(1, 2, 3));
  EXPECT_TRUE(file.labels.empty() && file.classes.empty());
  EXPECT_EQ(file_of("@classLabel true a\n@note x y\n@data\n1:2:a\n").dimensions, 2);
  EXPECT_EQ(file_of("@classLabel true a\n@note x y\n@data\n1:2:a\n").notes.size(), 1u);
}

TEST(TsFile, RefusesWithThePlace) {
  const std::string head = "@classLabel true a b\n@data\n";
  expect_refused(
      parse,
      {
          {"empty", "", "file: the file is empty"},
          {"no data line", "@classLabel false\n", "file: no line @data followed by samples"},
          {"no cases", head, "file: no samples after @data"},
          {"no class line", "@data\n1:a\n",
           "file: the header has no @classLabel, so that the last part of a sample may be values or a class"},
          {"values before data", "1,2:a\n", "file:1: expected a header line such as @data, got '1,2:a'"},
          {"bare at", "@ x\n@\n", "file:2: '@' without a name"},
          {"twice", "@missing true\n@Missing true\n", "file:2: duplicate @Missing"},
          {"dimension twice", "@dimension 1\n@dimensions 1\n", "file:2: duplicate @dimensions"},
          {"data twice", head + "1:a\n@data\n", "file:4: expected values, ':' and a class, got no ':'"},
          {"words after data", "@data now\n", "file:1: expected nothing after @data on its line"},
          {"no truth", "@missing maybe\n", "file:1: @missing must be true or false"},
          {"two truths", "@univariate true false\n", "file:1: @univariate must be true or false"},
          {"time stamps", "@timeStamps true\n",
           "file:1: series with time stamps are not supported; write the values alone, evenly spaced in "
           "time"},
          {"a stamped value", head + "(0,1),(1,2):a\n",
           "file:3: '(0' is a value with a time stamp; series with time stamps are not supported; write the "
           "values alone, evenly spaced in time"},
          {"regression", "@targetLabel true\n",
           "file:1: @targetLabel is for regression; a classifier needs @classLabel true with its classes"},
          {"no number of dimensions", "@dimensions two\n",
           "file:1: @dimensions must be one integer from 1 to 10^9"},
          {"half a dimension", "@dimensions 1.5\n", "file:1: @dimensions must be one integer from 1 to 10^9"},
          {"no dimension", "@dimensions 0\n", "file:1: @dimensions must be one integer from 1 to 10^9"},
          {"huge length", "@seriesLength 1e300\n",
           "file:1: @serieslength must be one integer from 1 to 10^9"},
          {"no classes", "@classLabel true\n", "file:1: @classLabel is true, but no class follows it"},
          {"no truth of classes", "@classLabel\n",
           "file:1: @classLabel must be true, with the classes, or false"},
          {"classes of none", "@classLabel false a\n",
           "file:1: @classLabel is false, but 1 classes follow it"},
          {"class twice", "@classLabel true a b a\n", "file:1: class 'a' is declared twice"},
          {"class not declared", head + "1,2:c\n",
           "file:3: class 'c' is not one of the 2 that @classLabel declares"},
          {"no class", head + "1,2:\n", "file:3: class '' is not one of the 2 that @classLabel declares"},
          {"no colon", head + "1,2\n", "file:3: expected values, ':' and a class, got no ':'"},
          {"one and many", "@univariate true\n@dimensions 3\n" + head + "1:a\n",
           "file: @univariate is true, but @dimensions is 3"},
          {"two of one", "@univariate true\n" + head + "1:2:a\n",
           "file:4: the sample has 2 dimensions, @univariate requires 1"},
          {"one of many", "@univariate false\n" + head + "1:a\n",
           "file:4: the sample has 1 dimension, but @univariate is false"},
          {"two of three", "@dimensions 3\n" + head + "1:2:a\n",
           "file:4: the sample has 2 dimensions, @dimensions is 3"},
          {"dimensions vary", head + "1:2:a\n1:a\n",
           "file:4: the sample has 1 dimensions, the first sample has 2"},
          {"unequal dimensions", head + "1,2:3:a\n",
           "file:3: dimension 2 has 1 values, the first has 2; the dimensions of a sample must be equally "
           "long"},
          {"length and none", "@equalLength false\n@seriesLength 2\n" + head,
           "file: @equalLength is false, but @seriesLength is 2"},
          {"other length", "@seriesLength 3\n" + head + "1,2:a\n",
           "file:4: the sample has 2 steps, but @seriesLength is 3"},
          {"unequal lengths", "@equalLength true\n" + head + "1,2:a\n1:b\n",
           "file:5: the sample has 1 steps, the first has 2, but @equalLength is true"},
          {"missing after all", "@missing false\n" + head + "1,?:a\n",
           "file:4: value 2 of dimension 1 is missing, but @missing is false"},
          {"empty value", head + "1,,2:a\n",
           "file:3: value 2 of dimension 1 is '', which is not a finite number"},
          {"empty dimension", head + "1,2::a\n", "file:3: dimension 2 has no values"},
          {"comma at the end", head + "1,2,:a\n",
           "file:3: value 3 of dimension 1 is '', which is not a finite number"},
          {"text", head + "1,x:a\n", "file:3: value 2 of dimension 1 is 'x', which is not a finite number"},
          {"infinite", head + "1,inf:a\n",
           "file:3: value 2 of dimension 1 is 'inf', which is not a finite number"},
          {"too large", head + "1,1e60:a\n",
           "file:3: value 2 of dimension 1 is '1e60', which is not a finite number"},
          {"NUL", std::string("@data\n\0", 7), "file:2: NUL at byte 6: not a text file"},
      });
}

TEST(TsFile, RefusesEveryTruncationButThoseBetweenCases) {
  const std::string text = small;
  const size_t first_end = text.find("yy\n-1") + 2;
  for (size_t length = 0; length < text.size() - 1; ++length) {
    const std::string message = message_of(parse, text.substr(0, length));
    // The file is complete after a whole sample, also with half a line end.
    EXPECT_EQ(message.empty(), length == first_end || length == first_end + 1) << length << " " << message;
  }
  EXPECT_EQ(message_of(parse, small), "");
}

TEST(TsFile, SurvivesFlips) {
  expect_flips_are_clean(parse, small);
}

TEST(TsFile, ReadsTheArchive) {
  const std::string folder = (data_folder() / "uea").string() + "/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const SeriesFile motions = read_ts(folder + "BasicMotions/BasicMotions_TRAIN.ts");
  EXPECT_EQ(motions.samples(), 40);
  EXPECT_EQ(motions.values.size(), 40u * 6 * 100);
  EXPECT_EQ(motions.values[0], 0.079106f);
  const SeriesFile vowels = read_ts(folder + "JapaneseVowels/JapaneseVowels_TEST.ts");
  EXPECT_EQ(vowels.samples(), 370);
  EXPECT_EQ(vowels.classes.size(), 9u);
  EXPECT_EQ(*std::max_element(vowels.lengths.begin(), vowels.lengths.end()), 29);
}

}  // namespace
}  // namespace modewise::io
