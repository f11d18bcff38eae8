// Samples as rows of tables: UCR's .tsv and .txt, CSV with and without a header.

#include <gmock/gmock.h>

#include <cmath>

#include "modewise/data/series_classification/sources.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;

class SampleTable : public testing::Test {
 protected:
  RawSamples read(const std::string& name, const std::string& text) {
    return read_samples(folder_.write(name, text));
  }
  std::string refused(const std::string& name, const std::string& text) {
    std::string message = error_of(ErrorKind::data, [&] { read(name, text); });
    const std::string path = folder_.path(name);
    for (size_t at; (at = message.find(path)) != std::string::npos;) message.replace(at, path.size(), name);
    return message;
  }
  /// −1: missing value.
  static std::vector<float> values(const at::Tensor& series) {
    std::vector<float> out;
    for (int64_t i = 0; i < series.numel(); ++i) {
      const float x = series.const_data_ptr<float>()[i];
      out.push_back(std::isnan(x) ? -1 : x);
    }
    return out;
  }
  ScratchFolder folder_;
};

TEST_F(SampleTable, OfTheUcrArchiveTheClassComesFirstAndMissingValuesEndASeries) {
  const RawSamples raw = read("X_TRAIN.tsv", "2\t0.5\t1.5\t2.5\n-1\t3\tNaN\tNaN\n10\t4\tNaN\t5\n");
  EXPECT_THAT(raw.classes, ElementsAre("-1", "2", "10"));
  EXPECT_THAT(raw.labels, ElementsAre(1, 0, 2));
  EXPECT_EQ(raw.variables, 1);
  EXPECT_EQ(raw.name, "X_TRAIN");
  ASSERT_EQ(raw.samples.size(), 3U);
  EXPECT_THAT(raw.samples[1].sizes(), ElementsAre(1, 1));
  EXPECT_THAT(values(raw.samples[0]), ElementsAre(0.5F, 1.5F, 2.5F));
  EXPECT_THAT(values(raw.samples[2]), ElementsAre(4, -1, 5));
  EXPECT_EQ(raw.missing, 1) << "what ends a series is not missing";
}

TEST_F(SampleTable, OldTextFilesHoldAlignedNumbers) {
  const RawSamples raw = read("X_TEST.txt", "  1.0000000e+00  -2.5e-01  1\n  2.5000000e+00   3  4\n");
  EXPECT_THAT(raw.classes, ElementsAre("1", "2.5"));
  EXPECT_THAT(values(raw.samples[0]), ElementsAre(-0.25F, 1));
}

TEST_F(SampleTable, OfATableWithAHeaderTheClassStandsUnderItsName) {
  const RawSamples raw = read("cases.csv", "a;b;Class;c\n1,5;2;up;3\n4;5;down;\n");
  EXPECT_THAT(raw.classes, ElementsAre("down", "up"));
  EXPECT_THAT(raw.labels, ElementsAre(1, 0));
  EXPECT_THAT(values(raw.samples[0]), ElementsAre(1.5F, 2, 3));
  EXPECT_THAT(values(raw.samples[1]), ElementsAre(4, 5));
  const RawSamples bare = read("new.csv", "a,b\n1,2\n3,4\n");
  EXPECT_TRUE(bare.classes.empty());
  EXPECT_THAT(bare.labels, ElementsAre(-1, -1));
  EXPECT_THAT(values(bare.samples[1]), ElementsAre(3, 4));
}

TEST_F(SampleTable, WithoutAHeaderTextsMayBeClasses) {
  const RawSamples raw = read("cases.csv", "walk,1.5,2\nrun,3,4\nwalk,5,6\n");
  EXPECT_THAT(raw.classes, ElementsAre("run", "walk"));
  EXPECT_THAT(raw.labels, ElementsAre(1, 0, 1));
}

TEST_F(SampleTable, OfArffFilesTooTheNameSaysWhatTheyAre) {
  const RawSamples raw =
      read("x.arff",
           "@relation ramps\n@attribute a real\n@attribute b real\n@attribute c {p,q}\n@data\n"
           "1,?,q\n3,4,p\n");
  EXPECT_EQ(raw.name, "ramps");
  EXPECT_THAT(raw.classes, ElementsAre("p", "q"));
  EXPECT_THAT(raw.labels, ElementsAre(1, 0));
  EXPECT_THAT(values(raw.samples[0]), ElementsAre(1));
  EXPECT_THAT(values(raw.samples[1]), ElementsAre(3, 4));
}

TEST_F(SampleTable, TakesTheLargestNumbersOfFloat32) {
  EXPECT_THAT(values(read("X.tsv", "1\t3.4028234e38\n2\t1e-46\n").samples[0]), ElementsAre(3.4028234e38F));
}

TEST_F(SampleTable, SaysWhatIsWrong) {
  EXPECT_EQ(refused("a.txt", "1\n2\n"), "a.txt: expected a class and values in each row, found one number");
  EXPECT_EQ(refused("a.txt", "1 2\nNaN 3\n"), "a.txt: sample 2 has no class");
  EXPECT_EQ(refused("a.tsv", "1\t2.5\n\t3\n"), "a.tsv: sample 2 has no class");
  EXPECT_EQ(refused("a.csv", "label,x\n1,2\n2,\n"), "a.csv: sample 2 has no values");
  EXPECT_EQ(refused("a.csv", "label\n1\n2\n"),
            "a.csv: expected a class and values in each row, found one cell");
  EXPECT_EQ(refused("a.csv", "label,when,x\n1,2020-01-01,2\n2,2020-01-02,3\n"),
            "a.csv: column 'when' must hold numbers, it holds dates; in a table with a header the class "
            "column is 'label', 'class', 'target' or 'y'");
  EXPECT_EQ(refused("a.csv", "kind,x\nup,2\ndown,3\n"),
            "a.csv: column 'kind' must hold numbers, it holds text; in a table with a header the class "
            "column is 'label', 'class', 'target' or 'y'");
  EXPECT_EQ(refused("a.csv", "label,x\n2020-01-01,2\n2020-01-02,3\n"),
            "a.csv: column 'label' must hold classes, it holds dates");
  EXPECT_EQ(refused("a.tsv", "1\t2.5\n1\tx\n2\t3\n"),
            "a.tsv:2: column '2' holds numbers, but 'x' is not a finite number");
  EXPECT_EQ(refused("a.tsv", "1\t2.5\n2\t1e39\n"),
            "a.tsv: sample 2 contains 1e+39, which exceeds the range of float32 (±3.4e38)");
  EXPECT_EQ(refused("a.txt", "1 -1e39 2\n2 3 4\n"),
            "a.txt: sample 1 contains -1e+39, which exceeds the range of float32 (±3.4e38)");
}

}  // namespace
}  // namespace modewise::data
