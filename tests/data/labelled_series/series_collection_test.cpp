// Labelled series: splits, scaling by hand, padding, classes that training never saw, variations.

#include "modewise/data/labelled_series/series_collection.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "modewise/core/error.h"
#include "modewise/data/labelled_series/sources.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file_of(const std::string& head, const std::vector<std::string>& cases) {
  std::string text = "@problemName t\n@classLabel true " + head + "\n@data\n";
  for (const std::string& one : cases) text += one + "\n";
  return text;
}

/// `per_class` cases of each of the classes a, b and c with values that tell them apart.
std::string many(int per_class, const std::string& values = "1,2:3,4") {
  std::vector<std::string> cases;
  for (int i = 0; i < per_class; ++i)
    for (const char* name : {"a", "b", "c"}) cases.push_back(values + ":" + name);
  return file_of("a b c", cases);
}

class Collection : public testing::Test {
 protected:
  CollectionConfig written(const std::string& train, const std::string& test) {
    CollectionConfig config;
    config.path = std::filesystem::path(folder_.write("X_TRAIN.ts", train)).parent_path().string();
    folder_.write("X_TEST.ts", test);
    return config;
  }
  ScratchFolder folder_;
};

TEST_F(Collection, CutsTheValidationFromTheTrainingCasesOfEachClass) {
  CollectionConfig config = written(many(10), many(5));
  const SeriesCollection set = load_collection(config);
  EXPECT_EQ(set.train.size(), 24u);
  EXPECT_EQ(set.validation.size(), 6u);
  EXPECT_EQ(set.test.size(), 15u);
  EXPECT_THAT(set.class_counts(set.validation), ElementsAre(2, 2, 2));
  EXPECT_TRUE(std::all_of(set.validation.begin(), set.validation.end(), [](int64_t i) { return i < 30; }));
  EXPECT_EQ(set.test.front(), 30);
  EXPECT_EQ(set.names[30], "test 1");
  EXPECT_EQ(load_collection(config).validation, set.validation);
  config.split_seed = 2;
  EXPECT_NE(load_collection(config).validation, set.validation);
  config.path = folder_.path("X_TEST.ts");  // names its twin
  EXPECT_EQ(load_collection(config).train.size(), 24u);
}

TEST_F(Collection, SplitsAllCasesAnewAsThePaper) {
  CollectionConfig config = written(many(10), many(10));
  config.protocol = "paper";
  const SeriesCollection set = load_collection(config);
  EXPECT_EQ(set.train.size(), 48u);
  EXPECT_THAT(set.class_counts(set.validation), ElementsAre(2, 2, 2));
  EXPECT_THAT(set.class_counts(set.test), ElementsAre(2, 2, 2));
  std::set<int64_t> all(set.train.begin(), set.train.end());
  all.insert(set.validation.begin(), set.validation.end());
  all.insert(set.test.begin(), set.test.end());
  EXPECT_EQ(all.size(), 60u);
}

TEST_F(Collection, SaysThatTslibValidatesOnTheTestCasesAndScalesThemApart) {
  CollectionConfig config = written(many(2, "0,2"), many(2, "10,14"));
  config.protocol = "tslib";
  const SeriesCollection set = load_collection(config);
  EXPECT_EQ(set.validation, set.test);
  ASSERT_EQ(set.warnings, 1u);
  EXPECT_THAT(set.notes[0], HasSubstr("ON THE TEST CASES"));
  // pandas' deviation of 6 zeros and 6 twos: √(12/11); both splits then have mean 0.
  EXPECT_NEAR(set.cases[0][0][1].item<double>(), 1 / std::sqrt(12.0 / 11), 1e-6);
  EXPECT_NEAR(set.cases[6][0][1].item<double>(), 2 / std::sqrt(48.0 / 11), 1e-6);
}

TEST_F(Collection, ScalesByTheTrainingCasesAlone) {
  CollectionConfig config = written(many(5, "0,2:5,5"), many(1, "4,6:6,5"));
  const SeriesCollection set = load_collection(config);
  EXPECT_THAT(set.scale.mean, ElementsAre(1, 5));
  EXPECT_THAT(set.scale.deviation, ElementsAre(1, 1));  // a constant counts as deviation 1
  const at::Tensor& test = set.cases[static_cast<size_t>(set.test[0])];
  EXPECT_EQ(test[0][0].item<double>(), 3);
  EXPECT_EQ(test[1][0].item<double>(), 1);
  config.normalize = "case";
  EXPECT_NEAR(load_collection(config).cases.back()[0][0].item<double>(), -1, 1e-6);
  config.normalize = "none";
  EXPECT_EQ(load_collection(config).cases.back()[0][0].item<double>(), 4);
}

TEST_F(Collection, FillsGapsAndPadsWithAMask) {
  CollectionConfig config =
      written(file_of("a b", {"?,1,?,?,4,?:a", "1,2:a", "1:b", "?,?:b"}), file_of("a b", {"3,3,3:a"}));
  config.normalize = "none";
  const SeriesCollection set = load_collection(config);
  EXPECT_TRUE(set.padded());
  EXPECT_EQ(set.length, 6);
  const std::vector<int64_t> samples = {0, 2, 3};
  const LabelledBatch batch = gather_cases(set, samples, 6, true);
  const float* x = batch.values.const_data_ptr<float>();
  EXPECT_THAT(std::vector<float>(x, x + 6), ElementsAre(1, 1, 2, 3, 4, 4));
  EXPECT_THAT(std::vector<float>(x + 6, x + 12), ElementsAre(1, 0, 0, 0, 0, 0));
  EXPECT_THAT(std::vector<float>(x + 12, x + 18), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_EQ(batch.valid.sum().item<int64_t>(), 6 + 1 + 2);
  EXPECT_THAT(set.notes[0], HasSubstr("6 missing values"));
  config.length = 5;
  EXPECT_THAT(error_of(ErrorKind::data, [&] { load_collection(config); }),
              HasSubstr("longest case has 6 steps"));
}

TEST_F(Collection, RefusesWhatDoesNotFit) {
  const auto data_error = [&](const std::string& train, const std::string& test) {
    const CollectionConfig config = written(train, test);
    return error_of(ErrorKind::data, [&] { load_collection(config); });
  };
  EXPECT_THAT(data_error(many(2), file_of("a b c d", {"1,2:3,4:a", "1,2:3,4:d"})),
              HasSubstr("X_TEST.ts: case 2 is of class 'd', which no training case has (there are a, b, c)"));
  // A class that is declared and has no training case is not known either.
  EXPECT_THAT(data_error(file_of("a b c", {"1:a", "1:b"}), file_of("a b c", {"1:c"})),
              HasSubstr("class 'c'"));
  EXPECT_THAT(data_error(many(2), many(2, "1,2")), HasSubstr("1 dimensions, but those of"));
  EXPECT_THAT(data_error(file_of("a b", {"1:a", "2:a"}), many(1, "1")),
              HasSubstr("all cases are of class 'a'"));
  EXPECT_THAT(data_error("@classLabel false\n@data\n1,2\n", many(1)), HasSubstr("no classes to learn"));
  CollectionConfig config;
  config.train = folder_.path("X_TRAIN.ts");
  EXPECT_THAT(error_of(ErrorKind::config, [&] { load_collection(config); }), HasSubstr("data.test"));
  config.path = "/nowhere";
  config.train = "";
  error_of(ErrorKind::no_input, [&] { load_collection(config); });
}

TEST_F(Collection, LoadsOtherCasesForATrainedModel) {
  written(many(1, "1,2,3"), many(1));
  const std::string file = folder_.path("X_TRAIN.ts");
  const TrainedSeries trained = {{"b", "c", "a"}, 1, 4, true, {{1}, {2}}};
  const SeriesCollection set = load_cases(file, "variable", trained);
  EXPECT_THAT(set.labels, ElementsAre(2, 0, 1));
  EXPECT_EQ(set.length, 4);
  EXPECT_EQ(set.cases[0][0][2].item<double>(), 1);
  EXPECT_EQ(set.test.size(), 3u);
  const auto refused = [&](TrainedSeries other) {
    return error_of(ErrorKind::data, [&] { load_cases(file, "variable", other); });
  };
  EXPECT_THAT(refused({{"a", "b"}, 1, 4, true, {}}), HasSubstr("class 'c', which no training case has"));
  EXPECT_THAT(refused({{"a", "b", "c"}, 2, 4, true, {}}), HasSubstr("trained on 2"));
  EXPECT_THAT(refused({{"a", "b", "c"}, 1, 2, true, {}}), HasSubstr("has room for 2"));
  EXPECT_THAT(refused({{"a", "b", "c"}, 1, 4, false, {}}), HasSubstr("takes no masks"));
}

TEST_F(Collection, VariesByBatchNumberAndLeavesPaddingAlone) {
  const SeriesCollection set =
      load_collection(written(file_of("a b", {"1,2,3:4,5,6:a", "7:8:b"}), file_of("a b", {"1,2,3:4,5,6:a"})));
  const auto varied = [&](const VariationConfig& how, uint64_t number) {
    LabelledBatch batch = gather_cases(set, std::vector<int64_t>{0, 1}, 3, true);
    vary(batch, how, 5, number);
    return batch.values;
  };
  EXPECT_TRUE(at::equal(varied({}, 1), gather_cases(set, std::vector<int64_t>{0, 1}, 3, true).values));
  const VariationConfig noisy = {0.1, 0.2, 1, 0.5};
  EXPECT_TRUE(at::equal(varied(noisy, 1), varied(noisy, 1)));
  EXPECT_FALSE(at::equal(varied(noisy, 1), varied(noisy, 2)));
  EXPECT_EQ(varied(noisy, 3)[1].narrow(-1, 1, 2).abs().sum().item<double>(), 0);
}

TEST(Motifs, AreBalancedAndTheSameForASeed) {
  const MotifsConfig config = {8, 256, 2, 0.3};
  const RawCases train = simulate_motifs(config, 1, false), test = simulate_motifs(config, 1, true);
  EXPECT_EQ(train.cases.size(), 8u);
  EXPECT_EQ(test.cases.size(), 4u);
  EXPECT_THAT(test.labels, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(at::equal(train.cases[3], simulate_motifs(config, 1, false).cases[3]));
  EXPECT_FALSE(at::equal(train.cases[0], test.cases[0]));
  EXPECT_FALSE(at::equal(train.cases[0], simulate_motifs(config, 2, false).cases[0]));
}

}  // namespace
}  // namespace modewise::data
