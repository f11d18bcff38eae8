// Splits of volumes, and padding, masks and scaling of batches.

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
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "modewise/core/random.h"
#include "modewise/data/volume_classification/medmnist.h"
#include "modewise/data/volume_classification/sources.h"
#include "tests/data/volume_classification/volume_files.h"
#include "tests/error_of.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

/// A set of volumes of 2 × 1 × 1 voxels and 2 channels, without missing voxels or scales.
VolumeSet set_of(const std::vector<int64_t>& labels) {
  VolumeSet set;
  set.source = "set";
  set.labels = labels;
  set.classes = {"a", "b", "c"};
  for (size_t i = 0; i < labels.size(); ++i) {
    set.names.push_back(std::to_string(i));
    set.volumes.push_back(at::full({2, 1, 1, 2}, static_cast<double>(i), at::kFloat));
  }
  set.valid.resize(labels.size());
  set.scales.resize(labels.size());
  return set;
}

TEST(VolumeSplit, CutsEachClassInTheOrderOfItsSeed) {
  VolumeConfig config;
  config.split_ratios = {0.5, 0.26, 0.13};
  config.split_seed = 6;
  VolumeSet set = set_of({0, 2, 0, -1, 0, 2, 0, 0, -1, 0, 2, 0, 0, 0, 0});
  split_by_class(set, config.split_ratios, config.split_seed);
  std::vector<int64_t> wanted[3];
  for (const int64_t label : {-1, 0, 2}) {
    std::vector<int64_t> members;
    for (int64_t i = 0; i < 15; ++i)
      if (set.labels[static_cast<size_t>(i)] == label) members.push_back(i);
    const auto order =
        random_permutation(std::ssize(members), {6, RandomSite::splits, static_cast<uint64_t>(label + 1)});
    // For 2: 1, 1.52, 1.78; 10: 5, 7.6, 8.9; 3: 1.5, 2.28, 2.67; rounded, halves up.
    const size_t train = members.size() / 2 + members.size() % 2, validation = members.size() == 10 ? 8 : 2,
                 test = members.size() == 10 ? 9 : members.size();
    for (size_t i = 0; i < test; ++i)
      wanted[i < train ? 0 : i < validation ? 1 : 2].push_back(members[static_cast<size_t>(order[i])]);
  }
  for (auto& list : wanted) std::sort(list.begin(), list.end());
  EXPECT_EQ(set.train, wanted[0]);
  EXPECT_EQ(set.validation, wanted[1]);
  EXPECT_EQ(set.test, wanted[2]);
  EXPECT_THAT(set.notes, ElementsAre("split by class with seed 6: 8 training, 4 validation, 2 test"));
  for (const auto& wrong :
       {std::vector<double>{0.5, 0.5}, {0, 0.5, 0.5}, {0.5, 0.3, 0.21}, {0.6, 0.2, 0.1, 0.1}}) {
    config.split_ratios = wrong;
    EXPECT_EQ(
        error_of(ErrorKind::config, [&] { split_by_class(set, config.split_ratios, config.split_seed); }),
        fmt::format("data.split_ratios: expected three fractions (training, validation, test) that "
                    "sum to at most 1, got [{}]",
                    fmt::join(wrong, ", ")));
  }
}

TEST(VolumeSplit, SplitsTrainingAndValidationAgain) {
  const std::vector<int64_t> labels = {0, 1, 0, 1, 0, 1, 0, 0, -1, 0, 1, 0};
  const auto dealt = [&](int64_t seed) {
    VolumeSet set = set_of(labels);
    set.train = {2, 4, 5, 6, 7, 8, 9, 10};
    set.validation = {0, 1, 3};
    set.test = {11};
    deal_validation(set, seed);
    return set;
  };
  const VolumeSet set = dealt(3);
  std::vector<int64_t> wanted;
  for (const auto& [label, members, count] :
       {std::tuple<int64_t, std::vector<int64_t>, size_t>{0, {0, 2, 4, 6, 7, 9}, 1}, {1, {1, 3, 5, 10}, 2}}) {
    const auto order =
        random_permutation(std::ssize(members), {3, RandomSite::splits, static_cast<uint64_t>(label + 1)});
    for (size_t i = 0; i < count; ++i) wanted.push_back(members[static_cast<size_t>(order[i])]);
  }
  EXPECT_THAT(set.validation, UnorderedElementsAreArray(wanted));
  std::vector<int64_t> both = set.train;
  both.insert(both.end(), set.validation.begin(), set.validation.end());
  EXPECT_THAT(both, UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_TRUE(std::is_sorted(set.train.begin(), set.train.end()) &&
              std::is_sorted(set.validation.begin(), set.validation.end()));
  EXPECT_THAT(set.test, ElementsAre(11));
  EXPECT_THAT(set.notes, ElementsAre("3 of 11 training and validation volumes redrawn for validation, by "
                                     "class with seed 3"));
  EXPECT_EQ(dealt(3).validation, set.validation);
  std::set<std::vector<int64_t>> seen;
  for (int64_t seed = 1; seed < 9; ++seed) seen.insert(dealt(seed).validation);
  EXPECT_GT(seen.size(), 4U);
}

TEST(VolumeValues, AreTwoWhereTheTrainingVolumesAreMasks) {
  VolumeSet set = set_of({0, 1, 0, 1});  // volume i has the value i
  set.train = {0, 2};
  EXPECT_TRUE(two_valued(set));
  set.train = {0, 1, 2};
  EXPECT_FALSE(two_valued(set));
  set.train = {3};
  EXPECT_TRUE(two_valued(set));
  set.volumes[3][0][0][0][1] = 2;
  EXPECT_TRUE(two_valued(set));
  set.volumes[3][1][0][0][0] = 2.5;
  EXPECT_FALSE(two_valued(set));
  set.train = {1};
  set.volumes[1][1][0][0][0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(two_valued(set));
}

TEST(VolumeBatches, PadMaskScaleAndClip) {
  VolumeSet set = set_of({1, 0, 2});
  EXPECT_FALSE(set.masked());
  set.volumes[1] = at::tensor({1.0F, 10.0F, 2.0F, 20.0F, 3.0F, 30.0F}).view({1, 3, 1, 2});
  EXPECT_TRUE(set.masked());  // because of its size
  EXPECT_THAT(set.size(), ElementsAre(2, 3, 1));
  set.scales[1] = {at::tensor({1.0F, 10.0F}), at::tensor({2.0F, 5.0F}), false};
  const std::vector<int64_t> samples = {1, 2};
  LabelledBatch batch = gather_volumes(set, samples, {2, 3, 2});
  const auto floats = [](const at::Tensor& x) {
    const at::Tensor flat = x.to(at::kFloat).flatten().contiguous();
    return std::vector<float>(flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel());
  };
  EXPECT_THAT(batch.values.sizes().vec(), ElementsAre(2, 2, 3, 2, 2));
  EXPECT_THAT(floats(batch.values[0].select(2, 0)[0]), ElementsAre(0, 0, 0.5, 2, 1, 4));
  EXPECT_THAT(floats(batch.valid[0].select(2, 0)), ElementsAre(1, 1, 1, 0, 0, 0));
  EXPECT_EQ(batch.values[0].sum().item<float>(), 7.5);  // 0 beyond the edge
  EXPECT_THAT(floats(batch.valid[1].select(2, 0)), ElementsAre(1, 0, 0, 1, 0, 0));
  EXPECT_EQ(batch.valid.select(3, 1).sum().item<int64_t>(), 0);
  EXPECT_THAT(floats(batch.labels), ElementsAre(0, 2));
  set.scales[1].clip = true;
  set.valid[1] = at::tensor({1, 1, 0}).to(at::kBool).view({1, 3, 1});
  batch = gather_volumes(set, samples);
  EXPECT_THAT(floats(batch.values[0][0]), ElementsAre(0, 0, 0.5, 1, 0, 0));
  EXPECT_THAT(floats(batch.valid[0]), ElementsAre(1, 1, 0, 0, 0, 0));
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       gather_volumes(set, samples, {2, 2, 1});
                     }),
            "set: volume 1 has 3 voxels along axis 1, more than the maximum of 2");
  VolumeSet holes = set_of({0, 1});
  holes.valid[1] = at::zeros({2, 1, 1}, at::kBool);
  EXPECT_TRUE(holes.masked());
}

TEST(VolumeBatches, HaveAHashOfAllThatTheyHold) {
  const std::string before = hash_of(set_of({0, 1, 2}));
  EXPECT_EQ(hash_of(set_of({0, 1, 2})), before);
  const std::vector<std::function<void(VolumeSet&)>> changes = {
      [](VolumeSet& s) { s.volumes[2].flatten()[3] = 7; },
      [](VolumeSet& s) { s.labels[2] = 0; },
      [](VolumeSet& s) { s.train = {1}; },
      [](VolumeSet& s) { s.validation = {1}; },
      [](VolumeSet& s) { s.test = {1}; },
      [](VolumeSet& s) {
        s.valid[0] = at::zeros({2, 1, 1}, at::kBool);
      }};
  std::set<std::string> hashes = {before};
  for (const auto& change : changes) {
    VolumeSet set = set_of({0, 1, 2});
    change(set);
    hashes.insert(hash_of(set));
  }
  EXPECT_EQ(hashes.size(), 7U);
}

TEST_F(Volumes, OfALargerSizeThanTheBatchAreRefused) {
  const VolumeSet set = load_volumes(config_of(write("some3d.npz", six_arrays())));
  const std::vector<int64_t> samples = {0};
  EXPECT_THAT(gather_volumes(set, samples, {4, 4, 6}).values.sizes().vec(), ElementsAre(1, 4, 4, 6, 1));
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       gather_volumes(set, samples, {3, 4, 4});
                     }),
            set.source + ": volume train 0 has 5 voxels along axis 2, more than the maximum of 4");
}

}  // namespace
}  // namespace modewise::data
