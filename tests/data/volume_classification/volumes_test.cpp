// Volumes from NPZ and NPY files: valid and invalid files.

#include "modewise/data/volume_classification/volumes.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

#include "modewise/core/random.h"
#include "modewise/data/volume_classification/medmnist.h"
#include "modewise/data/volume_classification/sources.h"
#include "tests/data/volume_classification/volume_files.h"
#include "tests/error_of.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST_F(Volumes, OfMedMnistKeepTheirSplitsAndBytes) {
  const VolumeSet set = load_volumes(config_of(write("some3d.npz", six_arrays())));
  EXPECT_EQ(set.count(), 9);
  EXPECT_THAT(set.train, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(set.validation, ElementsAre(4, 5));
  EXPECT_THAT(set.test, ElementsAre(6, 7, 8));
  EXPECT_EQ(set.split("train"), set.train);
  EXPECT_EQ(set.split("validation"), set.validation);
  EXPECT_EQ(set.split("test"), set.test);
  EXPECT_THAT(set.split("all"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(set.labels, ElementsAre(0, 1, 2, 1, 2, 0, 1, 1, 0));
  EXPECT_THAT(set.size(), ElementsAre(3, 4, 5));
  EXPECT_EQ(set.channels(), 1);
  EXPECT_EQ(set.classes.size(), 3U);
  EXPECT_FALSE(set.masked());
  EXPECT_THAT(set.class_counts(set.train), ElementsAre(1, 2, 1));
  const std::vector<int64_t> samples = {4, 1};
  const LabelledBatch batch = gather_volumes(set, samples);
  EXPECT_THAT(batch.values.sizes().vec(), ElementsAre(2, 3, 4, 5, 1));
  EXPECT_EQ(batch.values.flatten()[2].item<float>(), 6.0F / 255.0F);
  EXPECT_EQ(batch.values[1].flatten()[0].item<float>(), 60.0F / 255.0F);
  EXPECT_EQ(batch.labels[0].item<int64_t>(), 2);
  EXPECT_FALSE(batch.valid.defined());
}

TEST_F(Volumes, OfMedMnistNameTheArrayThatIsMissing) {
  auto arrays = six_arrays();
  arrays.erase("val_labels");
  EXPECT_THAT(
      refusal(config_of(write("a.npz", arrays))),
      testing::AllOf(HasSubstr("val_labels is missing"), HasSubstr("there are: test_images, test_labels")));
  EXPECT_THAT(refusal(config_of(write("b.npz", {{"x", bytes_of({2, 2}, 1)}}))),
              HasSubstr("train_images is missing (there are: x)"));
}

TEST_F(Volumes, RefuseLabelsOutOfRangeAndOfAnotherNumber) {
  auto arrays = six_arrays();
  arrays["test_labels"] = labels_of({1, 7, 0});
  EXPECT_THAT(refusal(config_of(write("a.npz", arrays))),
              HasSubstr("label 7 of sample test 1 is out of range: there are 3 classes, 0 to 2"));
  arrays["test_labels"] = labels_of({1, 0});
  EXPECT_THAT(refusal(config_of(write("b.npz", arrays))),
              HasSubstr("expected 3 labels, one for each volume, got shape [2, 1]"));
  const std::vector<double> half = {0, 0.5, 1};
  arrays["test_labels"] = io::make_array({3}, std::span<const double>(half));
  EXPECT_THAT(refusal(config_of(write("c.npz", arrays))),
              HasSubstr("label 0.5 of sample 1 is not a whole number"));
  arrays = six_arrays();
  arrays["val_images"] = bytes_of({2, 3, 4}, 1);
  EXPECT_THAT(refusal(config_of(write("d.npz", arrays))), HasSubstr("val_images: volumes with 2 axes"));
  arrays = six_arrays();
  arrays["val_images"] = bytes_of({2, 12}, 1);
  EXPECT_THAT(refusal(config_of(write("e.npz", arrays))), HasSubstr("expected volumes [samples, x, y, z]"));
}

TEST_F(Volumes, OfAKnownSetMustHaveItsCountsOrThoseOfAnOlderRelease) {
  VolumeConfig config = config_of(write("adrenalmnist3d.npz", six_arrays()));
  EXPECT_THAT(
      refusal(config),
      HasSubstr(
          "adrenalmnist3d has 1188 + 98 + 298 samples (training, validation, test), this file 4 + 2 + 3"));
  config.counts = "any";
  config.classes = {"a", "b", "c"};
  EXPECT_EQ(load_volumes(config).warnings, 1U);

  std::map<std::string, io::Array> vessel;
  const std::vector<std::pair<std::string, int64_t>> older = {{"train", 1335}, {"val", 192}, {"test", 382}};
  for (const auto& [split, count] : older) {
    vessel[split + "_images"] = bytes_of({count, 1, 1, 1}, 1);
    vessel[split + "_labels"] = labels_of(std::vector<uint8_t>(static_cast<size_t>(count), 1));
  }
  const VolumeSet set = load_volumes(config_of(write("vesselmnist3d_64.npz", vessel)));
  EXPECT_EQ(set.flag, "vesselmnist3d");
  EXPECT_THAT(set.classes, ElementsAre("vessel", "aneurysm"));
  ASSERT_EQ(set.warnings, 2U);
  EXPECT_THAT(set.notes.front(), HasSubstr("from an older release"));
  EXPECT_THAT(set.notes[1], HasSubstr("382 of the 382 test volumes are identical to"));
  vessel["val_images"] = bytes_of({191, 1, 1, 1}, 1);
  vessel["val_labels"] = labels_of(std::vector<uint8_t>(191, 1));
  EXPECT_EQ(load_volumes(config_of(write("vesselmnist3d.npz", vessel))).warnings, 1U);  // of the copies
}

TEST(MedMnist, KnowsSixSetsWithTheirClasses) {
  ASSERT_EQ(medmnist_sets().size(), 6U);
  EXPECT_EQ(find_medmnist("/data/organmnist3d_64.npz")->classes.size(), 11U);
  EXPECT_EQ(find_medmnist("fracturemnist3d.npz")->counts[2], 240);
  EXPECT_EQ(find_medmnist("organmnist3d_32.npz"), nullptr);
  // Samples as in the table of the MedMNIST v2 paper; release 2.2.4 removed one sample of two sets.
  const std::vector<int64_t> published = {1743, 1633, 1584, 1370, 1909, 1759}, removed = {1, 0, 0, 0, 1, 0};
  for (size_t i = 0; i < 6; ++i) {
    const MedMnistSet& set = medmnist_sets()[i];
    EXPECT_EQ(std::accumulate(set.older_counts.begin(), set.older_counts.end(), int64_t{0}), published[i])
        << set.flag;
    EXPECT_EQ(std::accumulate(set.counts.begin(), set.counts.end(), int64_t{0}), published[i] - removed[i])
        << set.flag;
  }
}

TEST_F(Volumes, WithoutASplitAreCutClassByClass) {
  std::vector<float> values(40 * 8);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  std::vector<int64_t> labels(40);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = i < 30 ? 0 : 1;
  const std::string path =
      write("plain.npz", {{"images", io::make_array({40, 2, 2, 2}, std::span<const float>(values))},
                          {"labels", io::make_array({40}, std::span<const int64_t>(labels))}});
  const VolumeSet set = load_volumes(config_of(path)), again = load_volumes(config_of(path));
  EXPECT_THAT(set.class_counts(set.train), ElementsAre(21, 7));
  EXPECT_THAT(set.class_counts(set.validation), ElementsAre(3, 1));
  EXPECT_THAT(set.class_counts(set.test), ElementsAre(6, 2));
  EXPECT_EQ(set.train, again.train);
  EXPECT_EQ(hash_of(set), hash_of(again));
  VolumeConfig other = config_of(path);
  other.split_seed = 2;
  EXPECT_NE(load_volumes(other).train, set.train);
  // Volumes of other dtypes than uint8 get mean 0 and standard deviation 1.
  const std::vector<int64_t> first = {0};
  const at::Tensor volume = gather_volumes(set, first).values;
  EXPECT_NEAR(volume.mean().item<double>(), 0, 1e-6);
  EXPECT_NEAR(volume.square().mean().item<double>(), 1, 1e-5);
}

TEST_F(Volumes, AreSplitAgainIntoTrainingAndValidationAlone) {
  std::map<std::string, io::Array> arrays;
  for (const auto& [split, count] : {std::pair{"train", 30}, std::pair{"val", 10}, std::pair{"test", 8}}) {
    arrays[fmt::format("{}_images", split)] = bytes_of({count, 2, 2, 2}, 1);
    std::vector<uint8_t> labels(static_cast<size_t>(count), 0);
    std::fill_n(labels.begin(), count / 5, 1);
    arrays[fmt::format("{}_labels", split)] = labels_of(labels);
  }
  VolumeConfig config = config_of(write("plain.npz", arrays));
  const VolumeSet stored = load_volumes(config);
  config.validation_seed = 2;
  const VolumeSet set = load_volumes(config), unread = load_volumes(config, false);
  EXPECT_EQ(set.test, stored.test);
  EXPECT_THAT(set.class_counts(set.validation), ElementsAre(8, 2));
  EXPECT_THAT(set.class_counts(set.train), ElementsAre(24, 6));
  EXPECT_NE(set.validation, stored.validation);
  EXPECT_EQ(unread.validation, set.validation);  // test volumes follow the others
  EXPECT_TRUE(unread.test.empty());
  config.validation_seed = 3;
  EXPECT_NE(load_volumes(config).validation, set.validation);
}

TEST_F(Volumes, InARangeOfIntensitiesAreClippedToIt) {
  VolumeConfig config = config_of(write("some3d.npz", six_arrays()));
  config.intensity = "range";
  config.intensity_range = {10, 30};
  const std::vector<int64_t> first = {0};  // bytes 0, 1, 2 …
  const at::Tensor values = gather_volumes(load_volumes(config), first).values.flatten();
  const std::vector<std::pair<int64_t, float>> wanted = {{0, 0},    {10, 0}, {15, 0.25},
                                                         {20, 0.5}, {30, 1}, {59, 1}};
  for (const auto& [at, value] : wanted) EXPECT_EQ(values[at].item<float>(), value) << at;
}

TEST_F(Volumes, OfNpyFindTheirLabels) {
  io::write_npy(scratch_.path("scan.npy"), bytes_of({6, 2, 3, 2, 2}, 5));
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { load_volumes(config_of(scratch_.path("scan.npy"))); }),
            scratch_.path("scan.npy") + ": there is no label file " + scratch_.path("scan_labels.npy") +
                "; set --labels FILE");
  const std::vector<int64_t> labels = {0, 1, 0, 1, 0, 1};
  io::write_npy(scratch_.path("scan_labels.npy"), io::make_array({6}, std::span<const int64_t>(labels)));
  VolumeConfig config = config_of(scratch_.path("scan.npy"));
  const VolumeSet set = load_volumes(config);
  EXPECT_EQ(set.channels(), 2);
  EXPECT_THAT(set.size(), ElementsAre(2, 3, 2));
  config.labels = scratch_.write("other.csv", "name,label\na,1\nb,1\nc,0\nd,0\ne,1\nf,1\n");
  EXPECT_THAT(load_volumes(config).labels, ElementsAre(1, 1, 0, 0, 1, 1));
}

TEST_F(Volumes, TakeVoxelsThatAreNoNumbersAsMissing) {
  std::vector<float> values(4 * 8, 2.0F);
  values[3] = std::nanf("");
  values[8] = INFINITY;
  const std::vector<int64_t> labels = {0, 1, 0, 1};
  std::map<std::string, io::Array> arrays = {
      {"images", io::make_array({4, 2, 2, 2}, std::span<const float>(values))},
      {"labels", io::make_array({4}, std::span<const int64_t>(labels))}};
  VolumeConfig config = config_of(write("holes.npz", arrays));
  config.intensity = "none";
  const VolumeSet set = load_volumes(config);
  EXPECT_TRUE(set.masked());
  const std::vector<int64_t> samples = {0, 2};
  const LabelledBatch batch = gather_volumes(set, samples);
  EXPECT_EQ(batch.valid.sum().item<int64_t>(), 15);
  EXPECT_EQ(batch.values.sum().item<float>(), 30);
  EXPECT_FALSE(batch.valid[0].flatten()[3].item<bool>());
  // Missing values, also for uint8.
  config = config_of(write("bytes.npz", six_arrays()));
  config.missing_values = {3};
  const std::vector<int64_t> first = {0};
  const LabelledBatch bytes = gather_volumes(load_volumes(config), first);
  EXPECT_EQ(bytes.valid.sum().item<int64_t>(), 59);
  EXPECT_EQ(bytes.values.flatten()[3].item<float>(), 0);
  for (size_t i = 8; i < 16; ++i) values[i] = std::nanf("");
  arrays["images"] = io::make_array({4, 2, 2, 2}, std::span<const float>(values));
  EXPECT_THAT(refusal(config_of(write("empty.npz", arrays))),
              HasSubstr("every voxel of volume 1 is missing"));
}

TEST_F(Volumes, NeedAPath) {
  EXPECT_EQ(error_of(ErrorKind::config, [] { load_volumes({}); }),
            "data.path: expected a file or folder of volumes, got none");
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { load_volumes(config_of("/nowhere/scan.npz")); }),
            "there is no file or folder /nowhere/scan.npz");
}

TEST(MedMnist, HasTheCountsOfEachRelease) {
  // Training, validation and test samples of the MedMNIST v2 table; one sample less since release 2.2.4.
  std::vector<std::string> counts;
  for (const MedMnistSet& set : medmnist_sets()) {
    EXPECT_EQ(set.older_note.empty(), set.counts == set.older_counts) << set.flag;
    counts.push_back(fmt::format("{} {} {}", set.flag, fmt::join(set.older_counts, " "), set.classes.size()));
  }
  EXPECT_THAT(counts, ElementsAre("organmnist3d 972 161 610 11", "nodulemnist3d 1158 165 310 2",
                                  "adrenalmnist3d 1188 98 298 2", "fracturemnist3d 1027 103 240 3",
                                  "vesselmnist3d 1335 192 382 2", "synapsemnist3d 1230 177 352 2"));
  EXPECT_THAT(find_medmnist("organmnist3d.npz")->counts, ElementsAre(971, 161, 610));
  EXPECT_THAT(find_medmnist("vesselmnist3d.npz")->counts, ElementsAre(1335, 191, 382));
  EXPECT_EQ(medmnist_size_flag(28), "");
  EXPECT_EQ(medmnist_size_flag(64), "_64");
}

TEST_F(Volumes, FindTheirFormat) {
  const auto config = [&](const std::string& name) { return config_of(scratch_.write(name, "x")); };
  EXPECT_EQ(refusal(config("a.txt")), scratch_.path("a.txt") +
                                          ": expected volumes: .npz, .npy, .nii, .nii.gz or a folder of "
                                          "NIfTI files");
  EXPECT_THAT(refusal(config("a.nii")), Not(HasSubstr("expected volumes")));
  EXPECT_THAT(refusal(config("a.nii.gz")), Not(HasSubstr("expected volumes")));
  VolumeConfig npz = config_of(write("a.bin", six_arrays()));
  npz.format = "npz";
  EXPECT_EQ(load_volumes(npz).count(), 9);
}

TEST_F(Volumes, TakeTheirClassesFromTheTrainingSamples) {
  auto arrays = six_arrays();
  arrays["train_labels"] = labels_of({0, 0, 0, 0});
  arrays["val_labels"] = labels_of({1, 1});
  arrays["test_labels"] = labels_of({1, 0, 0});
  EXPECT_THAT(load_volumes(config_of(write("a.npz", arrays))).classes, ElementsAre("0", "1"));
  arrays["val_labels"] = labels_of({1, 2});
  EXPECT_THAT(refusal(config_of(write("b.npz", arrays))),
              HasSubstr("label 2 of sample val 1 is out of range"));
  VolumeConfig named = config_of(write("c.npz", arrays));
  named.classes = {"x", "y", "z"};
  EXPECT_EQ(load_volumes(named).classes, named.classes);
  // Without a split the labels of all samples are the classes: those that occur.
  const auto plain = [&](const std::vector<int64_t>& labels) {
    const auto count = std::ssize(labels);
    return config_of(write("d.npz", {{"images", bytes_of({count, 1, 1, 2}, 1)},
                                     {"labels", io::make_array({count}, std::span<const int64_t>(labels))}}));
  };
  const VolumeSet gaps = load_volumes(plain({7, 3, 65536, 3}));
  EXPECT_THAT(gaps.classes, ElementsAre("3", "7", "65536"));
  EXPECT_THAT(gaps.labels, ElementsAre(1, 0, 2, 0));
  VolumeConfig trained = plain({7, 7, 3});
  trained.trained = trained.classes_are_labels = true;
  trained.classes = {"3", "7", "9"};
  EXPECT_THAT(load_volumes(trained).labels, ElementsAre(1, 1, 0));
  trained.path = plain({5, 3}).path;
  EXPECT_THAT(refusal(trained),
              HasSubstr("label 5 of sample 0 is out of range: there are 3 classes, 3, 7, 9"));
  trained.classes_are_labels = false;  // named by the user: the labels are their numbers
  trained.path = plain({2, 0}).path;
  EXPECT_THAT(load_volumes(trained).labels, ElementsAre(2, 0));
  std::vector<int64_t> many(65537);
  std::iota(many.begin(), many.end(), 0);
  EXPECT_THAT(refusal(plain(many)), HasSubstr("65537 classes; at most 65536"));
  for (const double wrong : {-1.0, 1e6 + 1}) {
    const std::vector<double> values = {0, wrong};
    EXPECT_THAT(refusal(config_of(
                    write("e.npz", {{"images", bytes_of({2, 1, 1, 2}, 1)},
                                    {"labels", io::make_array({2}, std::span<const double>(values))}}))),
                HasSubstr("of sample 1 is not a whole number from 0"));
  }
}

TEST_F(Volumes, LeaveTheTestSamplesOut) {
  const std::string six = write("six.npz", six_arrays());
  const VolumeSet set = load_volumes(config_of(six), false);
  EXPECT_EQ(set.count(), 6);
  EXPECT_THAT(set.train, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(set.validation, ElementsAre(4, 5));
  EXPECT_TRUE(set.test.empty());
  const VolumeConfig plain = config_of(write("plain.npz", {{"images", bytes_of({20, 2, 2, 2}, 7)},
                                                           {"labels", labels_of(std::vector<uint8_t>(20))}}));
  const VolumeSet all = load_volumes(plain), without = load_volumes(plain, false);
  EXPECT_EQ(all.count(), 20);
  EXPECT_EQ(without.count(), 16);
  EXPECT_TRUE(without.test.empty());
  EXPECT_EQ(without.names[static_cast<size_t>(without.validation[1])],
            all.names[static_cast<size_t>(all.validation[1])]);
}

TEST_F(Volumes, TakeTheIntensityRuleThatFits) {
  io::Array shorts{io::Array::u16, {1, 1, 2, 2}, {}};
  for (const int byte : {0, 0, 255, 255, 0x33, 0x33, 1, 0}) shorts.bytes.push_back(std::byte(byte));
  const std::vector<int64_t> labels = {0};
  const auto file = [&](io::Array images) {
    return config_of(write("a.npz", {{"images", std::move(images)},
                                     {"labels", io::make_array({1}, std::span<const int64_t>(labels))}}));
  };
  const std::vector<int64_t> first = {0};
  const auto values = [&](const VolumeConfig& config) {
    const at::Tensor x = gather_volumes(load_volumes(config), first).values.flatten().contiguous();
    return std::vector<float>(x.const_data_ptr<float>(), x.const_data_ptr<float>() + x.numel());
  };
  VolumeConfig config = file(shorts);
  EXPECT_THAT(values(config), ElementsAre(0, 1, 13107.0F / 65535, 1.0F / 65535));
  config.intensity = "none";
  EXPECT_THAT(values(config), ElementsAre(0, 65535, 13107, 1));
  const std::vector<float> floats = {1, 5, 3, 5, 5, 5, 7, 5};  // mean 4, std √5; and a single 5
  config = file(io::make_array({1, 1, 2, 2, 2}, std::span<const float>(floats)));
  const auto scaled = static_cast<float>(std::sqrt(5.0));
  EXPECT_THAT(values(config), ElementsAre(-3 / scaled, 0, -1 / scaled, 0, 1 / scaled, 0, 3 / scaled, 0));
  config.missing_values = {5};  // in both channels: one voxel, which is ignored
  EXPECT_THAT(values(config),
              ElementsAre(testing::FloatNear(-1.0690450F, 1e-6F), 0, testing::FloatNear(-0.26726124F, 1e-6F),
                          0, 0, 0, testing::FloatNear(1.3363062F, 1e-6F), 0));
  EXPECT_THAT(load_volumes(config).notes, testing::Contains("1 voxels treated as missing"));
  config.missing_values = {};
  const auto config_error = [&] { return error_of(ErrorKind::config, [&] { load_volumes(config); }); };
  config.intensity = "unit";
  EXPECT_THAT(config_error(), HasSubstr("is for volumes of uint8 or uint16"));
  config.intensity = "range";
  for (const auto& range : {std::vector<double>{1, 1}, {2, 1}, {1}, {1, 2, 3}}) {
    config.intensity_range = range;
    EXPECT_EQ(config_error(), fmt::format("data.intensity_range: expected two ascending numbers, got [{}]",
                                          fmt::join(range, ", ")));
  }
}

TEST_F(Volumes, AreResampledByAveragesWhereTheyShrink) {
  std::vector<uint8_t> bytes = {0, 10, 20, 31, 40, 50};
  VolumeConfig config =
      config_of(write("a.npz", {{"images", io::make_array({1, 6, 1, 1}, std::span<const uint8_t>(bytes))},
                                {"labels", labels_of({0})}}));
  config.intensity = "none";
  const std::vector<int64_t> first = {0};
  const auto values = [&](int64_t length) {
    config.size = {length, 1, 1};
    const at::Tensor x = gather_volumes(load_volumes(config), first).values.flatten().contiguous();
    return std::vector<float>(x.const_data_ptr<float>(), x.const_data_ptr<float>() + x.numel());
  };
  EXPECT_THAT(values(6), ElementsAre(0, 10, 20, 31, 40, 50));
  EXPECT_THAT(values(3), ElementsAre(5, 26, 45));      // averages of two, 25.5 rounded to even
  EXPECT_THAT(values(4), ElementsAre(2, 18, 33, 48));  // at 0.25, 1.75, 3.25, 4.75: 2.5, 17.5, 33.25, 47.5
  EXPECT_EQ(values(12).size(), 12U);
  config.size = {2, 2};
  EXPECT_EQ(error_of(ErrorKind::config, [&] { load_volumes(config); }),
            "data.size: expected 3 sizes for volumes of 3 axes, got 2 for 3");
  // Missing voxels do not affect neighbours: means of valid voxels, missing if less than half are valid.
  at::Tensor x = at::tensor({1.0F, NAN, 5.0F, NAN, NAN, NAN, 3.0F, 4.0F}).view({8, 1, 1, 1});
  const at::Tensor half = resampled(x, {4, 1, 1}).flatten();
  EXPECT_EQ(half[0].item<float>(), 1);
  EXPECT_EQ(half[1].item<float>(), 5);
  EXPECT_TRUE(std::isnan(half[2].item<float>()));
  EXPECT_EQ(half[3].item<float>(), 3.5);
}

TEST_F(Volumes, OfArraysMayHaveChannelsLast) {
  VolumeConfig config =
      config_of(write("a.npz", {{"images", bytes_of({2, 3, 4, 2}, 1)}, {"labels", labels_of({0, 1})}}));
  EXPECT_EQ(load_volumes(config).channels(), 1);
  config.channels = "last";
  EXPECT_EQ(load_volumes(config).channels(), 2);
  EXPECT_EQ(load_volumes(config).modes(), 2);
  config =
      config_of(write("b.npz", {{"images", bytes_of({2, 3, 4, 2, 2}, 1)}, {"labels", labels_of({0, 1})}}));
  EXPECT_EQ(load_volumes(config).channels(), 2);
  config.channels = "none";
  EXPECT_EQ(load_volumes(config).modes(), 4);
  // Two arrays with other names, and labels from another file.
  config = config_of(write("c.npz", {{"x", bytes_of({2, 3, 4, 2}, 1)}, {"y", labels_of({1, 0})}}));
  config.images = "x";
  EXPECT_THAT(refusal(config), HasSubstr("train_images is missing (there are: x, y)"));
  config.labels = "y";
  EXPECT_THAT(load_volumes(config).labels, ElementsAre(1, 0));
  EXPECT_THAT(load_volumes(config).names, ElementsAre("0", "1"));
  config.format = "medmnist";
  EXPECT_THAT(refusal(config), HasSubstr("train_images is missing"));
  auto six = six_arrays();
  six["images"] = bytes_of({2, 3, 4, 2}, 1);
  six["labels"] = labels_of({0, 1});
  EXPECT_EQ(load_volumes(config_of(write("d.npz", six))).count(), 9);
  six = six_arrays();
  const std::vector<float> floats(2 * 60);
  six["val_images"] = io::make_array({2, 3, 4, 5}, std::span<const float>(floats));
  EXPECT_THAT(refusal(config_of(write("e.npz", six))), HasSubstr("or another type"));
  six["val_images"] = bytes_of({2, 3, 4, 5, 3}, 1);
  EXPECT_THAT(refusal(config_of(write("f.npz", six))), HasSubstr("volumes with 3 axes and 3 channels"));
}

TEST_F(Volumes, OfNpyTakeTheColumnAskedFor) {
  io::write_npy(scratch_.path("scan.npy"), bytes_of({2, 2, 3, 2}, 5));
  VolumeConfig config = config_of(scratch_.path("scan.npy"));
  config.labels = scratch_.write("other.csv", "kind,name,label\n1,x,0\n0,y,1\n");
  EXPECT_THAT(load_volumes(config).labels, ElementsAre(0, 1));
  config.label_column = "kind";
  EXPECT_THAT(load_volumes(config).labels, ElementsAre(1, 0));
  config.label_column = "name";
  EXPECT_EQ(refusal(config),
            config.labels +
                ": expected a column of labels (whole numbers) named 'name'; the columns are: kind, "
                "name, label");
  config.labels = scratch_.write("texts.csv", "label\nx\ny\n");
  config.label_column = "";
  EXPECT_EQ(refusal(config),
            config.labels + ": expected a column of labels (whole numbers); the columns are: label");
}

TEST_F(Volumes, OfNpyTakeTheColumnsOfTheirTable) {
  io::write_npy(scratch_.path("scan.npy"), bytes_of({6, 2, 3, 2}, 5));
  VolumeConfig config = config_of(scratch_.path("scan.npy"));
  const auto table = [&](const std::string& head, const std::vector<std::string>& rows) {
    config.labels = scratch_.write("t.csv", fmt::format("{}\n{}\n", head, fmt::join(rows, "\n")));
  };
  table("Class,age", {"0,61", "1,62", "0,63", "1,64", "0,65", "1,66"});
  EXPECT_THAT(load_volumes(config).labels, ElementsAre(0, 1, 0, 1, 0, 1));
  table("label,half,part", {"0,A,train", "1.0,A,train", "0,B,val", "1,B,val", "0,C,test", "1,C,test"});
  config.group_column = "half";
  config.split_column = "part";
  VolumeSet set = load_volumes(config);
  EXPECT_THAT(set.labels, ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(set.train, ElementsAre(0, 1));
  EXPECT_THAT(set.validation, ElementsAre(2, 3));
  EXPECT_THAT(set.test, ElementsAre(4, 5));
  EXPECT_THAT(set.groups, ElementsAre("A", "A", "B", "B", "C", "C"));
  EXPECT_EQ(load_volumes(config, false).count(), 4);
  table("label,patient", {"0,1971-03-02", "0,1971-03-02", "0,b", "1,c", "1,c", "1,d"});
  config.group_column = config.split_column = "";
  config.split_ratios = {0.5, 0, 0.5};
  set = load_volumes(config);
  EXPECT_EQ(std::count(set.train.begin(), set.train.end(), 0),
            std::count(set.train.begin(), set.train.end(), 1));
  config.group_column = "nonsense";
  EXPECT_EQ(refusal(config),
            config.labels + ": there is no column 'nonsense'; the columns are: label, patient");
}

TEST_F(Volumes, RefuseColumnsWithoutATable) {
  VolumeConfig config = config_of(write("a.npz", six_arrays()));
  for (const auto& [name, column] :
       {std::pair("file_column", &config.file_column), std::pair("label_column", &config.label_column),
        std::pair("split_column", &config.split_column), std::pair("group_column", &config.group_column)}) {
    *column = "patient";
    EXPECT_EQ(
        error_of(ErrorKind::config, [&] { load_volumes(config); }),
        fmt::format("data.{} = patient: {} has no table of labels (CSV), which would have such a column",
                    name, config.path));
    config.trained = true;
    EXPECT_EQ(load_volumes(config).count(), 9);
    config.trained = false;
    *column = "";
  }
}

TEST_F(Volumes, KeepTheDivisorOfTheTraining) {
  const auto load = [&](io::Array images, double unit) {
    VolumeConfig config =
        config_of(write("a.npz", {{"images", std::move(images)}, {"labels", labels_of({0, 1})}}));
    config.trained_unit = unit;
    if (unit > 0) config.intensity = "unit";
    return load_volumes(config);
  };
  const auto floats = [](float scale) {
    std::vector<float> values(2 * 8);
    for (size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>(i * 17);
    return io::make_array({2, 2, 2, 2}, std::span<const float>(values));
  };
  VolumeSet set = load(bytes_of({2, 2, 2, 2}, 17), 0);
  EXPECT_EQ(set.intensity, "unit");
  EXPECT_EQ(set.unit, 255);
  const std::vector<int64_t> all = {0, 1};
  const at::Tensor values = gather_volumes(set, all).values;
  EXPECT_TRUE(at::equal(gather_volumes(load(floats(1), 255), all).values, values));
  EXPECT_EQ(load(floats(1), 255).warnings, 0U);
  EXPECT_EQ(load(floats(1), 0).intensity, "volume");
  EXPECT_EQ(
      load(floats(2), 255).notes.front(),
      "1 of 2 volumes have values outside 0 to 255, the range of the training volumes, by which they are "
      "divided (data.intensity); the first is volume 1: 272 to 510");
  EXPECT_THAT(load(floats(1 / 255.0F), 255).notes.front(),
              HasSubstr("but as in training they are divided by 255 (data.intensity)"));
  EXPECT_THAT(load(bytes_of({2, 2, 2, 2}, 17), 65535).notes.front(),
              HasSubstr("all values are between 0 and 255, but as in training they are divided by 65535"));
}

}  // namespace
}  // namespace modewise::data
