#include "modewise/io/tables/ts_file.h"

#include <cmath>
#include <filesystem>

#include "tests/data_folder.h"
#include "tests/io/damage.h"

namespace modewise::io {
namespace {

using testing::ElementsAre;

void try_ts(std::span<const std::byte> bytes) {
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

// Headers and rows as the writers of aeon (write_to_ts_file, save_to_ts_file) and sktime make them.
TEST(TsFile, ReadsWhatOtherWritersWrite) {
  const SeriesFile aeon = file_of(
      "# A comment\n# of two lines\n@problemname data\n@timestamps false\n@missing True\n@univariate "
      "False\n@dimension 2\n@equallength true\n@serieslength 2\n@targetlabel false\n@classlabel true 0 1\n"
      "@data\n% between\n1.0,NaN:3.0,4.0:1\n\t5,6\t:\t7 , 8 : 0 \r\n");
  EXPECT_THAT(aeon.labels, ElementsAre(1, 0));
  EXPECT_EQ(aeon.dimensions, 2);
  EXPECT_THAT(std::span(aeon.values).subspan(2), ElementsAre(3, 4, 5, 6, 7, 8));
  const SeriesFile unlabelled = file_of("@classLabel false\n@data\n1,2:\n3,4:\n");
  EXPECT_THAT(unlabelled.values, ElementsAre(1, 2, 3, 4)) << "without y every series ends in a colon";
  EXPECT_EQ(unlabelled.dimensions, 1);
  EXPECT_TRUE(unlabelled.classes.empty());
  EXPECT_THAT(file_of("@targetlabel false\n@data\n1,2\n").values, ElementsAre(1, 2));
  const SeriesFile cased = file_of("@classLabel true Cat Dog\n@data\n1:cat\n2:Dog\n3:cat\n");
  EXPECT_THAT(cased.labels, ElementsAre(0, 1, 0));
  EXPECT_THAT(cased.notes, ElementsAre("line 3: class 'cat' is taken as the declared class 'Cat'"));
  const SeriesFile quoted = file_of(
      "@classLabel true \"walk left\" 'at 10:30' plain\n@data\n1:'walk left'\n2:\"at 10:30\"\n3:plain\n");
  EXPECT_THAT(quoted.classes, ElementsAre("walk left", "at 10:30", "plain"));
  EXPECT_THAT(quoted.labels, ElementsAre(0, 1, 2));
}

TEST(TsFile, SaysWhatItRepairs) {
  const SeriesFile comma = file_of("@classLabel true a\n@data\n1,2:a\n3,4,:a\n5,6, :a\n");
  EXPECT_THAT(comma.values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(
      comma.notes,
      ElementsAre("line 4: the comma after the last value is ignored; a missing value is '?' or NaN"));
  const SeriesFile missing = file_of("@missing false\n@classLabel true a\n@data\n1,?:a\nNaN,2:a\n");
  EXPECT_EQ(missing.missing, 2);
  EXPECT_THAT(missing.notes, ElementsAre("line 4: value 2 of dimension 1 is missing, but @missing is false"));
  const SeriesFile lengths =
      file_of("@equalLength false\n@seriesLength 2\n@classLabel true a\n@data\n1,2:a\n1:a\n");
  EXPECT_THAT(lengths.lengths, ElementsAre(2, 1));
  EXPECT_THAT(lengths.notes, ElementsAre("@seriesLength 2 is ignored, because @equalLength is false"));
  EXPECT_THAT(file_of("@equalLength false\n@seriesLength -1\n@classLabel true a\n@data\n1:a\n").lengths,
              ElementsAre(1));
}

TEST(TsFile, ClassesMayBeUnknown) {
  const SeriesFile some = file_of("@classLabel true a b\n@data\n1:b\n2:?\n3:a\n");
  EXPECT_THAT(some.labels, ElementsAre(1, -1, 0));
  EXPECT_EQ(some.unlabelled_line, 4);
  const SeriesFile all = file_of("@classLabel true a b\n@data\n1:?\n2:?\n");
  EXPECT_TRUE(all.labels.empty() && all.classes.empty());
}

TEST(TsFile, RefusesWithThePlace) {
  const std::string head = "@classLabel true a b\n@data\n";
  expect_refused(
      try_ts,
      {
          {"empty", "", "file: the file is empty"},
          {"no data line", "@classLabel false\n", "file: no line @data followed by samples"},
          {"no cases", head, "file: no samples after @data"},
          {"no class line", "@data\n1:a\n",
           "file: the header has no @classLabel, so that the last part of a sample may be values or a class; "
           "add @classLabel true CLASSES, or @classLabel false"},
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
          {"classes of none", "@classLabel false a\n", "file:1: @classLabel is false, but it names 1 class"},
          {"regression after classes", "@classLabel false\n@targetlabel true\n",
           "file:2: @targetLabel is for regression; a classifier needs @classLabel true with its classes"},
          {"class twice", "@classLabel true a b a\n",
           "file:1: class 'a' is declared twice; spaces separate the classes, so write a class name of "
           "several "
           "words in quotes, here and in the samples"},
          {"class not declared", head + "1,2:c\n",
           "file:3: class 'c' is not one of the 2 that @classLabel declares (a, b); '?' is an unknown class"},
          {"no class", head + "1,2:\n",
           "file:3: class '' is not one of the 2 that @classLabel declares (a, b); '?' is an unknown class"},
          {"class of two cases", "@classLabel true Ab AB\n@data\n1:ab\n",
           "file:3: class 'ab' is not one of the 2 that @classLabel declares (Ab, AB); '?' is an unknown "
           "class"},
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
           "file:4: the sample has 1 dimension, the first sample has 2"},
          {"unequal dimensions", head + "1,2:3:a\n",
           "file:3: dimension 2 has 1 value, the first has 2; the dimensions of a sample must be equally "
           "long"},
          {"other length", "@seriesLength 3\n" + head + "1,2:a\n",
           "file:4: the sample has 2 steps, but @seriesLength is 3"},
          {"unequal lengths", "@equalLength true\n" + head + "1,2:a\n1:b\n",
           "file:5: the sample has 1 step, the first has 2, but @equalLength is true"},
          {"empty value", head + "1,,2:a\n",
           "file:3: value 2 of dimension 1 is '', which is not a finite number"},
          {"empty dimension", head + "1,2::a\n", "file:3: dimension 2 has no values"},
          {"commas at the end", head + "1,2,,:a\n",
           "file:3: value 3 of dimension 1 is '', which is not a finite number"},
          {"a comma alone", head + ",:a\n",
           "file:3: value 1 of dimension 1 is '', which is not a finite number"},
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
    const std::string message = message_of(try_ts, text.substr(0, length));
    // The file is complete after a whole sample, also with half a line end.
    EXPECT_EQ(message.empty(), length == first_end || length == first_end + 1) << length << " " << message;
  }
  EXPECT_EQ(message_of(try_ts, small), "");
}

TEST(TsFile, SurvivesFlips) {
  expect_flips_are_clean(try_ts, small);
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
