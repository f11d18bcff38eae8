// Series classification data: splits, scaling by hand, padding, unknown classes, augmentation.

#include "modewise/data/series_classification/series_collection.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/random.h"
#include "modewise/data/series_classification/sources.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file_of(const std::string& head, const std::vector<std::string>& samples) {
  std::string text = "@problemName t\n@classLabel true " + head + "\n@data\n";
  for (const std::string& one : samples) text += one + "\n";
  return text;
}

/// `per_class` samples of each of the classes a, b and c with distinct values.
std::string many(int per_class, const std::string& values = "1,2:3,4") {
  std::vector<std::string> samples;
  for (int i = 0; i < per_class; ++i)
    for (const char* name : {"a", "b", "c"}) samples.push_back(values + ":" + name);
  return file_of("a b c", samples);
}

/// First value of the last sample.
double last_value(const SeriesCollection& set) {
  return set.samples[set.samples.size() - 1][0][0].item<double>();
}

std::vector<std::string> names_of(const SeriesCollection& set) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < set.count(); ++i) names.push_back(set.sample_name(i));
  return names;
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

TEST_F(Collection, CutsTheTestFromAFileOfAllSamples) {
  CollectionConfig config;
  config.path = folder_.write("cases.ts", many(10));
  const SeriesCollection set = load_collection(config);
  EXPECT_THAT(set.class_counts(set.train), ElementsAre(6, 6, 6));
  EXPECT_THAT(set.class_counts(set.validation), ElementsAre(2, 2, 2));
  EXPECT_THAT(set.class_counts(set.test), ElementsAre(2, 2, 2));
  EXPECT_THAT(
      set.notes,
      ElementsAre(HasSubstr("6 of the 6 test samples are identical to samples of the training"),
                  "no test file: 6 of the 30 samples are the test split, independent of data.split_seed"));
  config.split_seed = 2;
  EXPECT_EQ(load_collection(config).test, set.test) << "or splits by other seeds would learn from test cases";
  EXPECT_NE(load_collection(config).validation, set.validation);
  const SeriesCollection without = load_collection(config, false);
  EXPECT_EQ(without.count(), 24) << "the same test cases are left unread";
  EXPECT_THAT(without.class_counts(without.train), ElementsAre(6, 6, 6));
  EXPECT_TRUE(without.test.empty());
  config.path = folder_.write("X_TRAIN.ts", many(10));
  EXPECT_EQ(load_collection(config, false).count(), 30) << "a file that is named as a part is one";
}

TEST_F(Collection, CutsTheValidationFromTheTrainingSamplesOfEachClass) {
  CollectionConfig config = written(many(10), many(5));
  const SeriesCollection set = load_collection(config);
  EXPECT_EQ(set.train.size(), 24u);
  EXPECT_EQ(set.validation.size(), 6u);
  EXPECT_EQ(set.test.size(), 15u);
  EXPECT_THAT(set.class_counts(set.validation), ElementsAre(2, 2, 2));
  EXPECT_TRUE(std::all_of(set.validation.begin(), set.validation.end(), [](int64_t i) { return i < 30; }));
  EXPECT_EQ(set.test.front(), 30);
  EXPECT_EQ(set.sample_name(30), "test 1");
  EXPECT_EQ(load_collection(config).validation, set.validation);
  config.split_seed = 2;
  EXPECT_NE(load_collection(config).validation, set.validation);
  config.path = folder_.path("X_TEST.ts");  // one of the two files
  EXPECT_EQ(load_collection(config).train.size(), 24u);
}

TEST_F(Collection, SplitsAllSamplesAgainAsThePaper) {
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

TEST_F(Collection, SaysThatTslibValidatesOnTheTestSamplesAndScalesThemApart) {
  CollectionConfig config = written(many(2, "0,2"), many(2, "10,14"));
  config.protocol = "tslib";
  const SeriesCollection set = load_collection(config);
  EXPECT_EQ(set.validation, set.test);
  ASSERT_EQ(set.warnings, 1u);
  EXPECT_THAT(set.notes[0], HasSubstr("ON THE TEST SAMPLES"));
  // pandas' std of 6 zeros and 6 twos: √(12/11); both splits then have mean 0.
  EXPECT_NEAR(set.samples[0][0][1].item<double>(), 1 / std::sqrt(12.0 / 11), 1e-6);
  EXPECT_NEAR(set.samples[6][0][1].item<double>(), 2 / std::sqrt(48.0 / 11), 1e-6);
}

TEST_F(Collection, ScalesByTheTrainingSamplesAlone) {
  CollectionConfig config = written(many(5, "0,2:5,5"), many(1, "4,6:6,5"));
  const SeriesCollection set = load_collection(config);
  EXPECT_THAT(set.scale.mean, ElementsAre(1, 5));
  EXPECT_THAT(set.scale.stddev, ElementsAre(1, 1));  // a constant has std 1
  const at::Tensor& test = set.samples[static_cast<size_t>(set.test[0])];
  EXPECT_EQ(test[0][0].item<double>(), 3);
  EXPECT_EQ(test[1][0].item<double>(), 1);
  config.normalize = "sample";
  EXPECT_FLOAT_EQ(last_value(load_collection(config)), -1);
  config.normalize = "none";
  EXPECT_EQ(last_value(load_collection(config)), 4);
}

TEST_F(Collection, FillsGapsAndPadsWithAMask) {
  CollectionConfig config =
      written(file_of("a b", {"?,1,?,?,4,?:a", "1,2:a", "1:b", "?,?:b"}), file_of("a b", {"3,3,3:a"}));
  config.normalize = "none";
  const SeriesCollection set = load_collection(config);
  EXPECT_TRUE(set.padded());
  EXPECT_EQ(set.length, 6);
  const std::vector<int64_t> samples = {0, 2, 3};
  const LabelledBatch batch = gather_samples(set, samples, 6, true);
  const float* x = batch.values.const_data_ptr<float>();
  EXPECT_THAT(std::vector<float>(x, x + 6), ElementsAre(1, 1, 2, 3, 4, 4));
  EXPECT_THAT(std::vector<float>(x + 6, x + 12), ElementsAre(1, 0, 0, 0, 0, 0));
  EXPECT_THAT(std::vector<float>(x + 12, x + 18), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_EQ(batch.valid.sum().item<int64_t>(), 6 + 1 + 2);
  EXPECT_THAT(set.notes[0], HasSubstr("6 missing values"));
  config.length = 5;
  EXPECT_THAT(error_of(ErrorKind::data, [&] { load_collection(config); }),
              HasSubstr("longest sample has 6 steps"));
}

TEST_F(Collection, RefusesWhatDoesNotFit) {
  const auto data_error = [&](const std::string& train, const std::string& test) {
    const CollectionConfig config = written(train, test);
    return error_of(ErrorKind::data, [&] { load_collection(config); });
  };
  EXPECT_THAT(
      data_error(many(2), file_of("a b c d", {"1,2:3,4:a", "1,2:3,4:d"})),
      HasSubstr("X_TEST.ts: sample 2 has class 'd', which no training sample has (there are a, b, c)"));
  // A declared class without training samples is unknown, too.
  EXPECT_THAT(data_error(file_of("a b c", {"1:a", "1:b"}), file_of("a b c", {"1:c"})),
              HasSubstr("class 'c'"));
  EXPECT_THAT(data_error(many(2), many(2, "1,2")), HasSubstr("1 dimension, but "));
  EXPECT_THAT(data_error(file_of("a b", {"1:a", "2:a"}), many(1, "1")),
              HasSubstr("all samples have class 'a'"));
  EXPECT_THAT(data_error("@classLabel false\n@data\n1,2\n", many(1)),
              HasSubstr("the training samples have no classes"));
  EXPECT_THAT(data_error(many(1, "1"), "@classLabel false\n@data\n1\n"),
              HasSubstr("X_TEST.ts: the test samples have no classes"));
  CollectionConfig config;
  config.train = folder_.path("X_TRAIN.ts");
  EXPECT_THAT(error_of(ErrorKind::config, [&] { load_collection(config); }), HasSubstr("data.test"));
  config.path = "/nowhere";
  config.train = "";
  error_of(ErrorKind::no_input, [&] { load_collection(config); });
}

TEST_F(Collection, LoadsOtherSamplesForATrainedModel) {
  written(many(1, "1,2,3"), many(1));
  const std::string file = folder_.path("X_TRAIN.ts");
  const TrainedSeries trained = {{"b", "c", "a"}, 1, 4, true, {{1}, {2}}};
  const SeriesCollection set = load_samples(file, "variable", trained);
  EXPECT_THAT(set.labels, ElementsAre(2, 0, 1));
  EXPECT_EQ(set.length, 4);
  EXPECT_EQ(set.samples[0][0][2].item<double>(), 1);
  EXPECT_EQ(set.test.size(), 3u);
  const auto refused = [&](TrainedSeries other) {
    return error_of(ErrorKind::data, [&] { load_samples(file, "variable", other); });
  };
  EXPECT_THAT(refused({{"a", "b"}, 1, 4, true, {}}), HasSubstr("class 'c', which no training sample has"));
  EXPECT_THAT(refused({{"a", "b", "c"}, 2, 4, true, {}}), HasSubstr("trained on 2"));
  EXPECT_THAT(refused({{"a", "b", "c"}, 1, 2, true, {}}), HasSubstr("the model's maximum is 2"));
  EXPECT_THAT(refused({{"a", "b", "c"}, 1, 4, false, {}}), HasSubstr("takes no padding masks"));
}

TEST_F(Collection, VariesByBatchNumberAndLeavesPaddingAlone) {
  const SeriesCollection set =
      load_collection(written(file_of("a b", {"1,2,3:4,5,6:a", "7:8:b"}), file_of("a b", {"1,2,3:4,5,6:a"})));
  const auto augmented = [&](const SeriesAugmentConfig& how, uint64_t number) {
    LabelledBatch batch = gather_samples(set, std::vector<int64_t>{0, 1}, 3, true);
    augment(batch, how, 5, number);
    return batch.values;
  };
  EXPECT_TRUE(at::equal(augmented({}, 1), gather_samples(set, std::vector<int64_t>{0, 1}, 3, true).values));
  const SeriesAugmentConfig noisy = {0.1, 0.2, 1, 0.5};
  EXPECT_TRUE(at::equal(augmented(noisy, 1), augmented(noisy, 1)));
  EXPECT_FALSE(at::equal(augmented(noisy, 1), augmented(noisy, 2)));
  EXPECT_EQ(augmented(noisy, 3)[1].narrow(-1, 1, 2).abs().sum().item<double>(), 0);
}

TEST_F(Collection, FindsItsFiles) {
  const std::string train = folder_.write("one/X_TRAIN.ts", many(5)),
                    test = folder_.write("one/X_TEST.ts", many(1));
  const std::string other = folder_.write("two/Y.ts", many(5));
  const auto counts = [](const CollectionConfig& config, bool with_test = true) {
    const SeriesCollection set = load_collection(config, with_test);
    return std::vector<size_t>{set.train.size() + set.validation.size(), set.test.size()};
  };
  CollectionConfig config;
  config.path = train;  // and the other file
  EXPECT_THAT(counts(config), ElementsAre(15, 3));
  EXPECT_EQ(load_collection(config).source, train);
  EXPECT_EQ(load_collection(config).name, "t");
  config.path = test;
  EXPECT_THAT(counts(config), ElementsAre(15, 3));
  config.path = other;  // no other file: the test file is set
  config.test = test;
  EXPECT_THAT(counts(config), ElementsAre(15, 3));
  EXPECT_THAT(counts(config, false), ElementsAre(15, 0));
  config = {};
  config.train = other;
  config.test = test;
  EXPECT_THAT(counts(config), ElementsAre(15, 3));
  EXPECT_EQ(load_collection(config).source, other);
  config = {};
  config.path = folder_.path("one");
  folder_.write("one/Z_TRAIN.ts", many(5));
  EXPECT_EQ(error_of(ErrorKind::data, [&] { load_collection(config); }),
            config.path + ": several files end in _TRAIN.ts; name one of them");
  config.path = folder_.path("two");
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { load_collection(config); }),
            config.path + ": no file ends in _TRAIN.ts, _TRAIN.tsv, _TRAIN.csv, _TRAIN.txt, _TRAIN.arff");
  folder_.write("two/Y_TRAIN.ts", many(5));
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { load_collection(config); }),
            config.path + ": no file ends in _TEST.ts, _TEST.tsv, _TEST.csv, _TEST.txt, _TEST.arff");
  EXPECT_THAT(counts(config, false), ElementsAre(15, 0));  // which is not read
  config.protocol = "paper";
  config.path = folder_.path("two/Y_TRAIN.ts");  // whose test file is missing and not needed
  EXPECT_THAT(counts(config), ElementsAre(12, 3));
  EXPECT_THAT(counts(config, false), ElementsAre(12, 0));
  config.protocol = "tslib";
  EXPECT_EQ(error_of(ErrorKind::config, [&] { load_collection(config, false); }),
            "protocol tslib selects the weights on the test samples: they cannot stay unread");
  EXPECT_EQ(error_of(ErrorKind::config, [] { load_collection({}); }),
            "data.path: expected a folder or file of series, got none");
}

TEST_F(Collection, KeepsATrainingSampleOfSmallClasses) {
  // One sample of a, two of b, three of c and ten of d.
  std::vector<std::string> samples = {"1:c", "2:d", "3:b", "4:a", "5:c", "6:d", "7:b", "8:c"};
  for (int i = 9; i < 17; ++i) samples.push_back(std::to_string(i) + ":d");
  const auto dealt = [&](const SeriesCollection& set, std::vector<double> for_test,
                         std::vector<double> before) {
    std::vector<int64_t> wanted[3];
    for (int64_t label = 0; label < 4; ++label) {
      std::vector<int64_t> members;
      for (int64_t i = 0; i < set.count(); ++i)
        if (set.labels[static_cast<size_t>(i)] == label) members.push_back(i);
      const auto order =
          random_permutation(std::ssize(members), {7, RandomSite::splits, static_cast<uint64_t>(label + 1)});
      for (size_t i = 0; i < members.size(); ++i) {
        const auto place = static_cast<double>(i);
        const auto k = static_cast<size_t>(label);
        wanted[place < for_test[k] ? 2
               : place < before[k] ? 1
                                   : 0]
            .push_back(members[static_cast<size_t>(order[i])]);
      }
    }
    for (auto& list : wanted) std::sort(list.begin(), list.end());
    EXPECT_EQ(set.train, wanted[0]);
    EXPECT_EQ(set.validation, wanted[1]);
    EXPECT_EQ(set.test, wanted[2]);
  };
  CollectionConfig config = written(file_of("a b c d", samples), file_of("a b c d", {"1:a"}));
  config.split_seed = 7;
  config.validation_share = 0.2;
  SeriesCollection set = load_collection(config);
  set.test.clear();
  std::vector<int64_t> training(set.samples.size() - 1);  // without the sample of the test file
  std::iota(training.begin(), training.end(), 0);
  set.samples.keep(training);
  dealt(set, {0, 0, 0, 0}, {0, 1, 1, 2});
  config.path = folder_.write("all/all.ts", file_of("a b c d", samples));
  config.protocol = "paper";
  set = load_collection(config);
  dealt(set, {0, 0, 1, 1}, {0, 1, 2, 2});
  EXPECT_THAT(set.notes, ElementsAre("protocol paper: random split of all 16 samples by class with seed 7"));
}

TEST_F(Collection, NamesItsSamplesAndCountsItsGaps) {
  CollectionConfig config =
      written(file_of("a b", {"1,?:a", "2,3:b", "4,5:b", "6,7:a"}), file_of("a b", {"?,?:a", "1,2:b"}));
  config.normalize = "none";
  const SeriesCollection set = load_collection(config);
  EXPECT_EQ(set.variables, 1);
  EXPECT_EQ(set.length, 2);
  EXPECT_FALSE(set.padded());
  EXPECT_THAT(names_of(set), ElementsAre("train 1", "train 2", "train 3", "train 4", "test 1", "test 2"));
  EXPECT_EQ(set.called(0), "train 1");
  EXPECT_THAT(set.notes,
              ElementsAre(folder_.path("X_TRAIN.ts") + ": 1 missing value filled by linear interpolation",
                          folder_.path("X_TEST.ts") + ": 2 missing values filled by linear interpolation"));
  EXPECT_EQ(set.warnings, 0U);
  config.length = 3;
  EXPECT_EQ(load_collection(config).length, 3);
  EXPECT_TRUE(load_collection(config).padded());
  config.length = 1;
  EXPECT_EQ(error_of(ErrorKind::data, [&] { load_collection(config); }),
            config.path + ": the longest sample has 2 steps, data.length = 1");
  const LabelledBatch batch = gather_samples(set, std::vector<int64_t>{5, 0}, 3, false);
  EXPECT_FALSE(batch.valid.defined());
  EXPECT_EQ(batch.labels[0].item<int64_t>(), 1);
  EXPECT_EQ(batch.values[0][0][1].item<float>(), 2);
}

TEST_F(Collection, HasAHashOfAllThatItHolds) {
  const auto read = [&] { return load_collection(written(many(4), many(1))); };
  const std::string before = hash_of(read());
  EXPECT_EQ(hash_of(read()), before);
  std::set<std::string> hashes = {before};
  for (int change = 0; change < 5; ++change) {
    SeriesCollection set = read();
    if (change == 0) set.samples[3].mutable_data_ptr<float>()[3] += 1;
    if (change == 1) set.labels[0] = 2;
    if (change == 2) set.train.pop_back();
    if (change == 3) set.validation.pop_back();
    if (change == 4) set.test.pop_back();
    hashes.insert(hash_of(set));
  }
  EXPECT_EQ(hashes.size(), 6U);
}

TEST_F(Collection, LoadsSamplesThatHaveNoClass) {
  const std::string file = folder_.write("x.ts", "@problemName n\n@classLabel false\n@data\n1,3\n5,?\n");
  const TrainedSeries trained = {{"a", "b"}, 1, 2, false, {{1}, {4}}};
  const SeriesCollection set = load_samples(file, "variable", trained);
  EXPECT_THAT(set.labels, ElementsAre(-1, -1));
  EXPECT_THAT(names_of(set), ElementsAre("sample 1", "sample 2"));
  EXPECT_THAT(set.test, ElementsAre(0, 1));
  EXPECT_EQ(set.name, "n");
  EXPECT_EQ(set.source, file);
  EXPECT_EQ(set.variables, 1);
  EXPECT_EQ(set.classes, trained.classes);
  EXPECT_EQ(set.samples[0][0][1].item<float>(), 0.5);
  EXPECT_EQ(set.samples[1][0][1].item<float>(), 1);
  EXPECT_EQ(load_samples(file, "none", {{"a", "b"}, 1, 2, false, {}}).samples[0][0][1].item<float>(), 3);
  EXPECT_EQ(load_samples(file, "sample", trained).samples[0][0][1].item<float>(), 1);
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { load_samples("/nowhere.ts", "none", trained); }),
            "there is no file /nowhere.ts");
  TrainedSeries longer = trained;
  longer.length = 3;
  EXPECT_THAT(error_of(ErrorKind::data, [&] { load_samples(file, "none", longer); }),
              HasSubstr("samples of other lengths than 3 steps"));
  longer.padded = true;
  EXPECT_EQ(load_samples(file, "none", longer).length, 3);
}

TEST(Motifs, AreTwoChirpsInNoise) {
  for (const auto& [steps, asked, width] :
       {std::array<int64_t, 3>{257, 0, 16}, {600, 0, 18}, {256, 128, 128}}) {
    const MotifsConfig config = {9, steps, 2, 0.3, asked};
    const int64_t half = steps / 2;
    for (const bool test : {false, true}) {
      const RawSamples raw = simulate_motifs(config, 6, test);
      EXPECT_EQ(raw.samples.size(), test ? 5U : 9U);
      EXPECT_EQ(raw.variables, 2);
      EXPECT_EQ(raw.name, "motifs");
      EXPECT_EQ(raw.source, "motifs (simulated)");
      EXPECT_THAT(raw.classes,
                  ElementsAre("rising, rising", "rising, falling", "falling, rising", "falling, falling"));
      for (uint64_t i = 0; i < raw.samples.size(); ++i) {
        EXPECT_EQ(raw.labels[i], static_cast<int64_t>(i % 4));
        const RandomStream random{6, RandomSite::simulation, test ? 0x7fffffff - i : i};
        for (int64_t v = 0; v < 2; ++v)
          for (int64_t t = 0; t < steps; ++t) {
            double wanted = 0.3 * random.normal(static_cast<uint64_t>(v * steps + t) + 4);
            for (int64_t part = 0; part < 2; ++part) {
              const bool falling = part == 0 ? i % 4 >= 2 : i % 2 == 1;
              const auto begin =
                  part * half + static_cast<int64_t>(random.uniform(static_cast<uint64_t>(part)) *
                                                     static_cast<double>(half - width));
              if (t < begin || t >= begin + width) continue;
              const double at = (static_cast<double>(t - begin) + 0.5) / static_cast<double>(width);
              const double along = falling ? 1 - at : at;
              wanted += std::sin(2 * std::numbers::pi * (2 * along + 6 * along * along)) *
                        std::sin(std::numbers::pi * at);
            }
            ASSERT_NEAR(raw.samples[i][v][t].item<float>(), wanted, 1e-6) << i << " " << t;
          }
      }
    }
  }
}

TEST(Motifs, AreTwoTonesInNoise) {
  const int64_t steps = 300, half = 150, width = 40;
  const MotifsConfig config = {8, steps, 2, 0.3, width, "tone"};
  const RawSamples raw = simulate_motifs(config, 6, false);
  EXPECT_THAT(raw.classes, ElementsAre("slow, slow", "slow, fast", "fast, slow", "fast, fast"));
  for (uint64_t i = 0; i < raw.samples.size(); ++i) {
    const RandomStream random{6, RandomSite::simulation, i};
    for (int64_t v = 0; v < 2; ++v)
      for (int64_t t = 0; t < steps; ++t) {
        double wanted = 0.3 * random.normal(static_cast<uint64_t>(v * steps + t) + 4);
        for (const int64_t part : {0, 1}) {
          const int64_t begin =
              part * half + static_cast<int64_t>(110 * random.uniform(static_cast<uint64_t>(part)));
          if (t < begin || t >= begin + width) continue;
          const double wave = (part == 0 ? i % 4 >= 2 : i % 2 == 1) ? 8 : 32;
          const auto from = static_cast<double>(t - begin);
          wanted += std::sin(std::numbers::pi * (from + 0.5) / 40) *
                    std::sin(2 * std::numbers::pi *
                             (from / wave + random.uniform(static_cast<uint64_t>(part) + 2)));
        }
        ASSERT_NEAR(raw.samples[i][v][t].item<float>(), wanted, 1e-6) << i << " " << t;
      }
  }
}

TEST(Motifs, FitIntoHalfASample) {
  EXPECT_EQ(error_of(ErrorKind::config,
                     [] {
                       simulate_motifs({9, 257, 1, 0.3, 129}, 6, false);
                     }),
            "data.motifs.width: a motif of 129 steps does not fit into half a sample of 257 steps");
}

TEST(Motifs, AreACollection) {
  CollectionConfig config;
  config.path = "motifs";
  config.motifs = {20, 64, 1, 0.1};
  const SeriesCollection set = load_collection(config);
  EXPECT_EQ(set.test.size(), 10U);
  EXPECT_EQ(set.train.size() + set.validation.size(), 20U);
  EXPECT_EQ(set.source, "motifs");
  EXPECT_EQ(load_collection(config, false).count(), 20);
}

TEST(Motifs, AreBalancedAndTheSameForASeed) {
  const MotifsConfig config = {8, 256, 2, 0.3};
  const RawSamples train = simulate_motifs(config, 1, false), test = simulate_motifs(config, 1, true);
  EXPECT_EQ(train.samples.size(), 8u);
  EXPECT_EQ(test.samples.size(), 4u);
  EXPECT_THAT(test.labels, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(at::equal(train.samples[3], simulate_motifs(config, 1, false).samples[3]));
  EXPECT_FALSE(at::equal(train.samples[0], test.samples[0]));
  EXPECT_FALSE(at::equal(train.samples[0], simulate_motifs(config, 2, false).samples[0]));
}

}  // namespace
}  // namespace modewise::data
