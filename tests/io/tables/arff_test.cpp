#include "modewise/io/tables/arff.h"

#include <cmath>

#include "tests/io/allocation_meter.h"
#include "tests/io/damage.h"

namespace modewise::io {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void try_arff(std::span<const std::byte> bytes) {
  parse_arff(bytes, "file");
}
SeriesFile file_of(std::string_view text) {
  return parse_arff(to_bytes(text), "file");
}

constexpr const char* small =
    "% a comment\n@RELATION 'Two words'\n\n@attribute att0 numeric\n@Attribute \"att 1\" REAL\n@attribute "
    "att2 "
    "integer\n@attribute target {xx, 'y y'}\n@data\n"
    "1,2,3,'y y'\n-1e1, .5 ,?,xx\n%between\n?,4,NaN,\"xx\"\n";

constexpr const char* relational =
    "@relation r\n@attribute dims relational\n@attribute t0 numeric\n@attribute t1 numeric\n@attribute t2 "
    "numeric\n@end dims\n@attribute class {a,b}\n@data\n"
    "\"1,2,3\\n4,?,6\",a\n'7,8,?\\n9,?,?',b\n";

TEST(Arff, ReadsAStepAnAttributeAndClasses) {
  const SeriesFile file = file_of(small);
  EXPECT_EQ(file.name, "Two words");
  EXPECT_EQ(file.dimensions, 1);
  EXPECT_THAT(file.classes, ElementsAre("xx", "y y"));
  EXPECT_THAT(file.labels, ElementsAre(1, 0, 0));
  EXPECT_THAT(file.lengths, ElementsAre(3, 2, 2)) << "missing values end a series";
  ASSERT_EQ(file.values.size(), 7u);
  EXPECT_THAT(std::span(file.values).first(5), ElementsAre(1, 2, 3, -10, 0.5F));
  EXPECT_TRUE(std::isnan(file.values[5]));
  EXPECT_EQ(file.values[6], 4);
  EXPECT_EQ(file.missing, 1);
}

TEST(Arff, ReadsDimensionsAsTheLinesOfARelation) {
  const SeriesFile file = file_of(relational);
  EXPECT_EQ(file.dimensions, 2);
  EXPECT_THAT(file.lengths, ElementsAre(3, 2));
  EXPECT_THAT(file.labels, ElementsAre(0, 1));
  ASSERT_EQ(file.values.size(), 10u);
  EXPECT_THAT(std::span(file.values).first(4), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(std::isnan(file.values[4]) && std::isnan(file.values[9]));
  EXPECT_THAT(std::span(file.values).subspan(5, 4), ElementsAre(6, 7, 8, 9));
  EXPECT_EQ(file.missing, 2);
}

TEST(Arff, CasesMayHaveNoClasses) {
  EXPECT_THAT(file_of("@attribute a real\n@data\n1\n2\n").classes, IsEmpty());
  const SeriesFile unknown = file_of("@attribute a real\n@attribute c {x,y}\n@data\n1,?\n2,?\n");
  EXPECT_TRUE(unknown.classes.empty() && unknown.labels.empty());
  EXPECT_EQ(unknown.samples(), 2);
}

TEST(Arff, SomeClassesMayBeUnknown) {
  const SeriesFile file = file_of("@attribute a real\n@attribute c {x,y}\n@data\n1,y\n2,?\n3,x\n");
  EXPECT_THAT(file.labels, ElementsAre(1, -1, 0));
  EXPECT_EQ(file.unlabelled_line, 5);
}

TEST(Arff, ReadsRowsOfTabsAndATrailingComma) {
  const std::string head =
      "@RELATION\tr\n@ATTRIBUTE\ta\tNUMERIC\n@attribute b real\n@attribute c {x,'y z'}\n@DATA\n";
  const SeriesFile file = file_of(head + "1\t2\t'y z'\r\n3 ,4\t, x ,\r\n");
  EXPECT_THAT(file.values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(file.labels, ElementsAre(1, 0));
  EXPECT_THAT(file.notes, ElementsAre("line 7: the comma after the last cell is ignored"));
}

TEST(Arff, TheClassMayStandAnywhere) {
  const SeriesFile file = file_of("@attribute c{x,y}\n@attribute a real\r\n@DATA\r\ny,1\r\nx,2\r\n");
  EXPECT_THAT(file.labels, ElementsAre(1, 0));
  EXPECT_THAT(file.values, ElementsAre(1, 2));
}

TEST(Arff, RefusesWithThePlace) {
  const std::string head = "@attribute t0 numeric\n@attribute t1 numeric\n@attribute c {a,b}\n@data\n";
  const std::string dims = "@attribute d relational\n@attribute t0 numeric\n@attribute t1 numeric\n";
  const std::string rows = dims + "@end d\n@attribute c {a}\n@data\n";
  expect_refused(
      try_arff,
      {
          {"empty", "", "file: the file is empty"},
          {"no data line", "@relation r\n", "file: no line @data followed by samples"},
          {"no cases", head, "file: no samples after @data"},
          {"a row in the header", "1,2\n",
           "file:1: expected a header line such as @attribute or @data, got '1,2'"},
          {"another line", "@attributes x\n",
           "file:1: expected @relation, @attribute, @end or @data, got '@attributes'"},
          {"no type", "@attribute x\n",
           "file:1: expected @attribute, a name and a type such as numeric or {a, b}"},
          {"texts", "@attribute x String\n",
           "file:1: attribute 'x' is of type 'string'; the attributes of series are numeric, and one is the "
           "class, {a, b}"},
          {"dates", "@attribute x date \"yyyy\"\n",
           "file:1: attribute 'x' is of type 'date'; the attributes of series are numeric, and one is the "
           "class, {a, b}"},
          {"two classes", "@attribute x {a}\n@attribute 'y z' {b}\n",
           "file:2: attributes 'x' and 'y z' are both nominal, expected one class attribute"},
          {"classes without end", "@attribute x {a, b\n",
           "file:1: the classes of attribute 'x' do not end in '}'"},
          {"an empty class", "@attribute x {a,}\n", "file:1: a class of attribute 'x' is empty"},
          {"a class twice", "@attribute x {a,b,a}\n", "file:1: class 'a' is declared twice"},
          {"an open quote", "@attribute 'x numeric\n", "file:1: unclosed quote (')"},
          {"an end", "@end x\n", "file:1: @end closes a relational attribute, but none is open"},
          {"no end", dims + "@data\n", "file:4: @data before the @end of the relational attribute"},
          {"two relations", dims + "@end d\n@attribute e relational\n",
           "file:5: attribute 'e' is a second relational attribute; the dimensions of a sample must be in "
           "one"},
          {"classes in a relation", dims + "@attribute c {a}\n",
           "file:4: attribute 'c' of a relational attribute must be numeric, not nominal"},
          {"no steps", "@attribute c {a}\n@data\na\n",
           "file:2: no numeric attribute is declared before @data"},
          {"both", dims + "@end d\n@attribute x numeric\n@data\n",
           "file:6: numeric attributes besides a relational one; the steps of a sample must be in one of the "
           "two"},
          {"sparse", head + "{0 1, 2 a}\n",
           "file:5: sparse rows, {index value, …}, are not supported; write every value"},
          {"few cells", head + "1,2\n", "file:5: the row has 2 cells, but the header declares 3 attributes"},
          {"many cells", head + "1,2,a,'b',\n",
           "file:5: the row has 5 cells, but the header declares 3 attributes"},
          {"a number as class", "@attribute t0 numeric\n@attribute Target numeric\n@data\n1,2\n",
           "file:3: attribute 'Target' is numeric, a target of regression; declare its classes, {a, b}, to "
           "classify"},
          {"an index", "@attribute ID numeric\n@attribute t0 numeric\n",
           "file:1: attribute 'ID' is named like an index of the samples, but it is numeric, as the steps "
           "are; "
           "leave it out of the file, or give it another name"},
          {"behind a quote", head + "1,2,'a' b\n", "file:5: expected ',' after cell 3, got 'b'"},
          {"an open cell", head + "1,2,'a\n", "file:5: unclosed quote (')"},
          {"text", head + "1,x,a\n", "file:5: value 2 is 'x', which is not a finite number"},
          {"no value", head + "1,,a\n", "file:5: value 2 is '', which is not a finite number"},
          {"too large", head + "1e39,1,a\n", "file:5: value 1 is '1e39', which is not a finite number"},
          {"nothing", head + "?,?,a\n", "file:5: the sample has no values"},
          {"another class", head + "1,2,c\n",
           "file:5: class 'c' is not one of the 2 that attribute 'c' declares"},
          {"a short dimension", rows + "'1,2\\n3',a\n",
           "file:7: dimension 2 has 1 value, but the header declares 2 attributes for it"},
          {"a long dimension", rows + "'1,2,3',a\n",
           "file:7: dimension 1 has 3 values, but the header declares 2 attributes for it"},
          {"dimensions vary", rows + "'1,2\\n3,4',a\n'1,2',a\n",
           "file:8: the sample has 1 dimension, the first sample has 2"},
          {"NUL", std::string("@data\n\0", 7), "file:2: NUL at byte 6: not a text file"},
      });
}

TEST(Arff, RefusesEveryTruncationButThoseBetweenCases) {
  const std::string text = relational;
  const size_t first_end = text.find(",a\n") + 2;
  for (size_t length = 0; length < text.size() - 1; ++length) {
    const std::string message = message_of(try_arff, text.substr(0, length));
    EXPECT_EQ(message.empty(), length == first_end || length == first_end + 1) << length << " " << message;
  }
  EXPECT_EQ(message_of(try_arff, relational), "");
}

TEST(Arff, SurvivesFlips) {
  expect_flips_are_clean(try_arff, small);
  expect_flips_are_clean(try_arff, relational);
}

TEST(Arff, MemoryIsBoundedByTheFile) {
  const auto expect_bounded = [](std::string text, std::string_view piece) {
    while (text.size() < kLarge / 4) text += piece;
    const std::vector<std::byte> bytes = to_bytes(text);
    const AllocationMeter meter;
    try {
      try_arff(bytes);
    } catch (const Error&) {
    }
    EXPECT_LE(meter.peak(), 2 * static_cast<int64_t>(text.size()) + (int64_t{64} << 20)) << piece;
  };
  const std::string head = "@attribute t numeric\n@data\n";
  for (const char* piece : {"1\n", "\n", "1,", "\\", "'\\n", "%\n"}) expect_bounded(head, piece);
  expect_bounded("@attribute d relational\n@attribute t numeric\n@end\n@data\n'", "1\\n");
  expect_bounded("@attribute c {", "a,");
  expect_bounded("", "@attribute t numeric\n");
  std::string classes = "@attribute c {";
  for (int i = 0; i < 100'000; ++i) classes += std::to_string(i) + ",";
  EXPECT_EQ(message_of(try_arff, classes + "x}"), "file:1: attribute 'c' has more than 65536 classes");
}

}  // namespace
}  // namespace modewise::io
