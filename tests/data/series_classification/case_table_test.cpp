// Samples as rows of tables: UCR's .tsv and .txt, CSV with and without a header.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "modewise/data/series_classification/sources.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using Strings = std::vector<std::string>;

class SampleTable : public testing::Test {
 protected:
  RawSamples read(const std::string& name, const std::string& text, const SampleColumns& columns = {},
                  bool must_exist = true) {
    return read_samples(folder_.write(name, text), columns, must_exist);
  }
  std::string refused(const std::string& name, const std::string& text, const SampleColumns& columns = {}) {
    std::string message = error_of(ErrorKind::data, [&] { read(name, text, columns); });
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

/// `head`, then a row of each class with two fractional values.
std::string table(const std::string& head, const std::vector<std::string>& first) {
  std::string text = head + "\n";
  for (size_t i = 0; i < first.size(); ++i)
    text += first[i] + ",0.5," + std::to_string(i) + ".25," + (i % 2 == 0 ? "up" : "down") + "\n";
  return text;
}

TEST_F(SampleTable, LeavesAnIndexOut) {
  for (const auto& [head, first, column] : {std::tuple(",0,1,label", Strings{"0", "1", "2"}, "column 1"),
                                            {"Unnamed: 0,0,1,label", Strings{"0", "1", "2"}, "Unnamed: 0"},
                                            {"Id,0,1,class", Strings{"712", "5", "44"}, "Id"},
                                            {"sample_id,0,1,y", Strings{"s1", "s2", "s3"}, "sample_id"},
                                            {"number,0,1,y", Strings{"7", "8", "9", "10"}, "number"}}) {
    const std::string called =
        head[0] == ',' ? "the column without a name" : fmt::format("column '{}'", column);
    const RawSamples raw = read("a.csv", table(head, first));
    EXPECT_EQ(raw.samples.longest(), 2) << head;
    EXPECT_THAT(values(raw.samples[2]), ElementsAre(0.5F, 2.25F)) << head;
    EXPECT_THAT(raw.index, ElementsAre(column));
    EXPECT_THAT(
        raw.warnings,
        ElementsAre(folder_.path("a.csv") + ": " + called +
                    " numbers or names the samples and is left out of them (data.index=none keeps it as "
                    "a value)"));
  }
  const RawSamples tab = read("X.tsv", "up\t1\t.5\t.25\nup\t2\t.5\t.5\ndown\t3\t.5\t1.5\ndown\t4\t.5\t.5\n");
  EXPECT_THAT(tab.index, ElementsAre("2")) << "a running number without a name";
  EXPECT_THAT(read("a.csv", table("id,index,0,1,label", {"4,0", "6,1", "8,2"})).index,
              ElementsAre("id", "index"));
}

TEST_F(SampleTable, TheNamesOfStepsAreNumbers) {
  for (const char* head : {"label,0,1", "activity,0,1", "activity,7,8"}) {
    const bool named = head[0] == 'l';
    const RawSamples raw = read("a.csv", std::string(head) + "\nup,.5,1\ndown,2,.25\nup,1,3\n",
                                {named ? "auto" : "activity", {"auto"}});
    EXPECT_THAT(raw.classes, ElementsAre("down", "up")) << head;
    EXPECT_THAT(values(raw.samples[1]), ElementsAre(2, 0.25F)) << head;
  }
  EXPECT_EQ(read("a.csv", "walk,1,2\nrun,3,5\nwalk,1,9\n").samples.size(), 3U);
  EXPECT_EQ(read("a.csv", "walk,1,2\nrun,3,.5\nwalk,1,9\n", {"auto", {"auto"}, "no"}).samples.size(), 3U);
  EXPECT_EQ(read("a.csv", "walk,1,2\nrun,3,5\nwalk,1,9\n", {"walk", {"auto"}, "yes"}).samples.size(), 2U);
}

TEST_F(SampleTable, TheIndexCanBeNamed) {
  const std::string text = table("id,0,1,label", {"0", "1", "2"});
  EXPECT_THAT(values(read("a.csv", text, {"auto", {"none"}}).samples[1]), ElementsAre(1, 0.5F, 1.25F));
  const RawSamples named = read("a.csv", text, {"auto", {"0"}});
  EXPECT_THAT(values(named.samples[1]), ElementsAre(1, 1.25F));
  EXPECT_TRUE(named.warnings.empty()) << "it was asked for";
  EXPECT_EQ(
      refused("a.csv", text, {"auto", {"idd"}}),
      "a.csv: there is no column 'idd' (data.index) (did you mean 'id'?); the columns are: id, 0, 1, label");
  EXPECT_EQ(read("a.csv", text, {"auto", {"idd"}}, false).samples.longest(), 3)
      << "a test file may lack the index of the training file";
  EXPECT_THAT(read("a.csv", table("id,kind,1,note", {"0", "1", "2"}), {"note", {"auto"}}).classes,
              ElementsAre("down", "up"));
  EXPECT_EQ(refused("a.csv", text, {"activity", {"auto"}}),
            "a.csv: there is no column 'activity' (data.label); the columns are: id, 0, 1, label");
}

TEST_F(SampleTable, AsksWhereAColumnMayBeAnIndex) {
  EXPECT_EQ(
      refused("a.csv", table("id,0,1,label", {"3", "5", "3"})),
      "a.csv: column 'id' looks like an index of the samples by its name, but its cells are not different "
      "integers or names; set data.index=id to leave it out, or data.index=none to keep it as a value of the "
      "series");
  EXPECT_EQ(refused("a.csv", table("code,0,1,label", {"31", "7", "12", "90"})),
            "a.csv: column 'code' has a different integer in each row (31, 7, …) and may be an index; set "
            "data.index=code to leave it out of the samples, or data.index=none to keep it as a value of the "
            "series");
  EXPECT_EQ(read("a.csv", "label,a,b\n1,3,9\n2,5,2\n1,7,6\n2,4,8\n").samples.longest(), 2)
      << "series of integers have no index";
  EXPECT_EQ(
      refused("a.csv", "label,target,a\n1,2,3\n2,3,4\n"),
      "a.csv: columns 'label' and 'target' may both be the class; set data.label to one of them, and leave "
      "the other out of the file if it is not a value of the series");
  EXPECT_EQ(read("a.csv", table("code,0,1,label", {"31", "7", "12", "90"}), {}, false).samples.longest(), 3)
      << "samples for a trained model are read as its training table was";
  std::string targets = "a,b,target\n";
  for (int i = 0; i < 30; ++i) targets += fmt::format("{0}.5,0.{0},{0}.125\n", i);
  EXPECT_EQ(
      refused("a.csv", targets),
      "a.csv: column 'target' must hold classes, but most of its 30 numbers are different, such as 0.125: "
      "targets of regression; data.label names the class column");
}

/// 5 samples of 10 steps, a row per step.
std::string long_table(const std::string& head, const std::function<std::string(int, int)>& cells) {
  std::string text = head + "\n";
  for (int sample = 0; sample < 5; ++sample)
    for (int step = 0; step < 10; ++step)
      text += fmt::format("{},.{}5,{}\n", cells(sample, step), (step * 7 + sample) % 10,
                          sample % 2 == 0 ? "up" : "down");
  return text;
}

TEST_F(SampleTable, RefusesALongTable) {
  const auto numbers = [](int sample, int step) { return fmt::format("{},{}", sample, step); };
  for (const auto& [id, time, cells] :
       {std::tuple<const char*, const char*, std::function<std::string(int, int)>>{"subject_x", "t", numbers},
        {"id", "time", numbers},
        {"case_id", "step", [](int sample, int step) { return fmt::format("s{},{}.5", sample, step); }},
        {"who", "when",
         [](int sample, int step) { return fmt::format("s{},2020-01-{:02}", sample, step + 1); }}})
    EXPECT_EQ(
        refused("a.csv", long_table(fmt::format("{},{},value,label", id, time), cells)),
        fmt::format("a.csv: looks like a long table: the ids of column '{0}' repeat, and '{1}' rises within "
                    "each id, but each row is read as one sample; pivot it to one row per sample with a "
                    "column per step, or write a .ts file; data.index={0},{1} reads each row as a sample",
                    id, time));
  const std::string text = long_table("id,time,value,label", numbers);
  EXPECT_EQ(read("a.csv", text, {"auto", {"id", "time"}}).samples.size(), 50U);
  const auto shuffled = [](int sample, int step) { return fmt::format("{},{}", sample, step * 7 % 10); };
  EXPECT_EQ(read("a.csv", long_table("a,b,value,label", shuffled)).samples.size(), 50U) << "nothing rises";
}

TEST_F(SampleTable, NewSamplesWithoutAHeaderHaveAClassColumn) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += fmt::format("{0}.5,0.{0},{0}.125\n", i);
  const std::string message = error_of(ErrorKind::data, [&] {
    read("a.csv", text, {"auto", {"auto"}, "no"}, false);
  });
  EXPECT_THAT(message,
              testing::HasSubstr("without a header the first column is the class: leave its cells empty"));
}

TEST_F(SampleTable, ReadsClassesAsTexts) {
  const auto classes = [&](const std::vector<std::string>& labels, const std::string& head = "label,x\n") {
    std::string text = head;
    for (size_t i = 0; i < labels.size(); ++i) text += fmt::format("{},{}.5\n", labels[i], i);
    return read("a.csv", text).classes;
  };
  EXPECT_THAT(classes({"2020-01-01", "2020-01-02"}), ElementsAre("2020-01-01", "2020-01-02"));
  EXPECT_THAT(classes({"1.0", "2.0", "10.0"}), ElementsAre("1", "2", "10"));
  EXPECT_THAT(classes({"1.000000000e+00", "2.500000000e+00"}, ""), ElementsAre("1", "2.5"));
  EXPECT_THAT(classes({"1", "1.0", "01"}), ElementsAre("01", "1", "1.0"));
  EXPECT_THAT(classes({"01", "02"}), ElementsAre("01", "02"));
  EXPECT_THAT(classes({"1", "2", "other"}), ElementsAre("1", "2", "other"));
  EXPECT_THAT(classes({"9007199254740992", "9007199254740993"}, ""),
              ElementsAre("9007199254740992", "9007199254740993"));
  EXPECT_EQ(read("a.csv", "label,x\nup,2\nNA,3\n").unlabelled, folder_.path("a.csv") + ": sample 2");
}

TEST_F(SampleTable, ReadsAnIndexAsTexts) {
  for (const auto& first : {Strings{"9007199254740992", "9007199254740993", "3"},
                            {"101", "102b", "103"},
                            {"2020-01-01", "2020-01-02", "2020-01-03"}})
    EXPECT_THAT(read("a.csv", table("patient,0,1,label", first)).index, ElementsAre("patient"));
}

TEST_F(SampleTable, SaysWhatIsWrong) {
  EXPECT_EQ(refused("a.txt", "1\n2\n"), "a.txt: expected a class and values in each row, found one number");
  EXPECT_EQ(read("a.txt", "1 2\nNaN 3\n").unlabelled, folder_.path("a.txt") + ": sample 2");
  EXPECT_EQ(read("a.tsv", "1\t2.5\n\t3\n").unlabelled, folder_.path("a.tsv") + ": sample 2");
  EXPECT_EQ(refused("a.csv", "label,x\n1,2\n2,\n"), "a.csv: sample 2 has no values");
  EXPECT_EQ(refused("a.csv", "label\n1\n2\n"),
            "a.csv: expected a class and values in each row, found one cell");
  EXPECT_EQ(refused("a.csv", "label,when,x\n1,2020-01-01,2\n2,2020-01-02,3\n"),
            "a.csv: column 'when' must hold numbers, it holds dates; in a table with a header the class "
            "column is 'label', 'class', 'target' or 'y' (or data.label), and data.index leaves columns out");
  EXPECT_EQ(refused("a.csv", "kind,x\nup,2\ndown,3\n"),
            "a.csv: column 'kind' must hold numbers, it holds text; in a table with a header the class "
            "column is 'label', 'class', 'target' or 'y' (or data.label), and data.index leaves columns out");
  EXPECT_EQ(refused("a.tsv", "1\t2.5\n1\tx\n2\t3\n"),
            "a.tsv:2: column '2' holds numbers, but 'x' is not a finite number");
  EXPECT_EQ(refused("a.tsv", "1\t2.5\n2\t1e39\n"),
            "a.tsv: sample 2 contains 1e+39, which exceeds the range of float32 (±3.4e38)");
  EXPECT_EQ(refused("a.txt", "1 -1e39 2\n2 3 4\n"),
            "a.txt: sample 1 contains -1e+39, which exceeds the range of float32 (±3.4e38)");
}

}  // namespace
}  // namespace modewise::data
