// Volumes from NPZ, NPY and NIfTI files: what is read, what is refused, how batches are padded.

#include "modewise/data/volumes/volumes.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "modewise/core/error.h"
#include "modewise/data/volumes/medmnist.h"
#include "modewise/io/arrays/npz.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

io::Array bytes_of(std::vector<int64_t> shape, int step) {
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  std::vector<uint8_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint8_t>(static_cast<int>(i) * step % 256);
  return io::make_array(std::move(shape), std::span<const uint8_t>(values));
}

io::Array labels_of(const std::vector<uint8_t>& labels) {
  return io::make_array({std::ssize(labels), 1}, std::span<const uint8_t>(labels));
}

/// Six arrays of MedMNIST's layout with 4, 2 and 3 samples of 3 × 4 × 5 voxels.
std::map<std::string, io::Array> six_arrays() {
  return {{"train_images", bytes_of({4, 3, 4, 5}, 1)}, {"train_labels", labels_of({0, 1, 2, 1})},
          {"val_images", bytes_of({2, 3, 4, 5}, 3)},   {"val_labels", labels_of({2, 0})},
          {"test_images", bytes_of({3, 3, 4, 5}, 7)},  {"test_labels", labels_of({1, 1, 0})}};
}

class Volumes : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::map<std::string, io::Array>& arrays) {
    const std::string path = scratch_.path(name);
    io::write_npz(path, arrays, true);
    return path;
  }
  static VolumeConfig config_of(const std::string& path) {
    VolumeConfig config;
    config.path = path;
    return config;
  }
  static std::string refusal(const VolumeConfig& config) {
    try {
      load_volumes(config);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      return error.what();
    }
    return "";
  }
  ScratchFolder scratch_;
};

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
              HasSubstr("label 7 of sample 1 is out of range: there are 3 classes, 0 to 2"));
  arrays["test_labels"] = labels_of({1, 0});
  EXPECT_THAT(refusal(config_of(write("b.npz", arrays))),
              HasSubstr("expected 3 labels, one a volume, got shape [2, 1]"));
  const std::vector<double> half = {0, 0.5, 1};
  arrays["test_labels"] = io::make_array({3}, std::span<const double>(half));
  EXPECT_THAT(refusal(config_of(write("c.npz", arrays))),
              HasSubstr("label 0.5 of sample 1 is not a whole number"));
  arrays = six_arrays();
  arrays["val_images"] = bytes_of({2, 3, 4}, 1);
  EXPECT_THAT(refusal(config_of(write("d.npz", arrays))), HasSubstr("val_images: volumes of 2 axes"));
  arrays = six_arrays();
  arrays["val_images"] = bytes_of({2, 12}, 1);
  EXPECT_THAT(refusal(config_of(write("e.npz", arrays))), HasSubstr("expected volumes [samples, x, y, z]"));
}

TEST_F(Volumes, OfAKnownSetMustHaveItsCountsOrThoseOfAnOlderRelease) {
  VolumeConfig config = config_of(write("adrenalmnist3d.npz", six_arrays()));
  EXPECT_THAT(
      refusal(config),
      HasSubstr(
          "adrenalmnist3d holds 1188 + 98 + 298 samples (training, validation, test), this file 4 + 2 + 3"));
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
  ASSERT_EQ(set.warnings, 1U);
  EXPECT_THAT(set.notes.front(), HasSubstr("of an older release"));
  vessel["val_images"] = bytes_of({191, 1, 1, 1}, 1);
  vessel["val_labels"] = labels_of(std::vector<uint8_t>(191, 1));
  EXPECT_EQ(load_volumes(config_of(write("vesselmnist3d.npz", vessel))).warnings, 0U);
}

TEST(MedMnist, KnowsSixSetsWithTheirClasses) {
  ASSERT_EQ(medmnist_sets().size(), 6U);
  EXPECT_EQ(find_medmnist("/data/organmnist3d_64.npz")->classes.size(), 11U);
  EXPECT_EQ(find_medmnist("fracturemnist3d.npz")->counts[2], 240);
  EXPECT_EQ(find_medmnist("organmnist3d_32.npz"), nullptr);
  // Samples as the paper's table of MedMNIST v2 has them; release 2.2.4 took one of two sets away.
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
  // Volumes that are no bytes get mean 0 and deviation 1.
  const std::vector<int64_t> first = {0};
  const at::Tensor volume = gather_volumes(set, first).values;
  EXPECT_NEAR(volume.mean().item<double>(), 0, 1e-6);
  EXPECT_NEAR(volume.square().mean().item<double>(), 1, 1e-5);
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
  EXPECT_THROW(load_volumes(config_of(scratch_.path("scan.npy"))), Error);
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
  // Values that stand for missing ones, of bytes too.
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

/// A NIfTI-1 file of float32, x fastest: voxel (x, y, z) holds x + 10 y + 100 z.
std::string nifti_bytes(int16_t x, int16_t y, int16_t z, float right = 1) {
  std::string bytes(352, '\0');
  const auto put = [&](size_t at, const auto& value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  };
  put(0, int32_t{348});
  const int16_t dims[8] = {3, x, y, z, 1, 1, 1, 1};
  put(40, dims);
  put(70, int16_t{16});
  put(72, int16_t{32});
  const float pixdim[8] = {1, 1, 2, 3, 0, 0, 0, 0};
  put(76, pixdim);
  put(108, 352.0F);
  put(112, 1.0F);
  put(254, int16_t{1});
  const float rows[12] = {right, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0};
  put(280, rows);
  std::memcpy(bytes.data() + 344, "n+1", 4);
  for (int k = 0; k < z; ++k)
    for (int j = 0; j < y; ++j)
      for (int i = 0; i < x; ++i) {
        const auto value = static_cast<float>(i + 10 * j + 100 * k);
        bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
      }
  return bytes;
}

TEST_F(Volumes, OfAFolderOfNiftiFollowTheirTable) {
  scratch_.write("scans/a.nii", nifti_bytes(4, 3, 2));
  scratch_.write("scans/b.nii", nifti_bytes(4, 3, 2, -1));
  scratch_.write("scans/more/c.nii", nifti_bytes(2, 3, 1));
  scratch_.write("scans/d.nii", nifti_bytes(4, 3, 2));
  scratch_.write("scans/labels.csv",
                 "file,label,split\na.nii,ill,train\nb,well,validation\nmore/c.nii,well,test\n");
  VolumeConfig config = config_of(scratch_.path("scans"));
  config.intensity = "none";
  const VolumeSet set = load_volumes(config);
  EXPECT_THAT(set.names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(set.classes, ElementsAre("ill", "well"));
  EXPECT_THAT(set.labels, ElementsAre(0, 1, 1));
  EXPECT_THAT(set.train, ElementsAre(0));
  EXPECT_THAT(set.test, ElementsAre(2));
  EXPECT_THAT(set.notes, ElementsAre(HasSubstr("names no class for it, left out")));
  EXPECT_THAT(set.size(), ElementsAre(4, 3, 2));
  EXPECT_TRUE(set.masked());  // c is smaller
  const std::vector<int64_t> all = {0, 1, 2};
  const LabelledBatch batch = gather_volumes(set, all);
  EXPECT_EQ(batch.values[0][3][2][1][0].item<float>(), 123);
  EXPECT_EQ(batch.values[1][3][2][1][0].item<float>(), 120);  // stored from right to left, turned to RAS
  EXPECT_EQ(batch.valid[2].sum().item<int64_t>(), 6);
  EXPECT_TRUE(batch.valid[0].all().item<bool>());

  config.spacing = 1;  // voxels of 1 × 2 × 3 mm
  EXPECT_THAT(load_volumes(config).size(), ElementsAre(4, 6, 6));
  config.spacing = 0;
  config.size = {2, 3, 2};
  EXPECT_FALSE(load_volumes(config).masked());
}

TEST_F(Volumes, NeedAPath) {
  EXPECT_EQ(error_of(ErrorKind::config, [] { load_volumes({}); }),
            "data.path: expected a file or folder of volumes, got none");
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { load_volumes(config_of("/nowhere/scan.npz")); }),
            "there is no file or folder /nowhere/scan.npz");
}

TEST_F(Volumes, OfAFolderMayHaveNumbersAsClasses) {
  scratch_.write("scans/a.nii", nifti_bytes(2, 2, 2));
  scratch_.write("scans/b.nii", nifti_bytes(2, 2, 2));
  scratch_.write("scans/labels.csv", "file,label,split\na,7,train\nb,3,test\n");
  const VolumeSet set = load_volumes(config_of(scratch_.path("scans")));
  EXPECT_THAT(set.classes, ElementsAre("3", "7"));
  EXPECT_THAT(set.labels, ElementsAre(1, 0));
}

TEST_F(Volumes, OfAFolderNeedATableThatFits) {
  EXPECT_THAT(refusal(config_of(scratch_.path(""))), HasSubstr("found none"));
  scratch_.write("scans/a.nii", nifti_bytes(2, 2, 2));
  scratch_.write("scans/labels.csv", "file,kind\na,1\nb,2\n");
  EXPECT_THAT(refusal(config_of(scratch_.path("scans"))),
              HasSubstr("expected a column of files (file) and one of"));
  scratch_.write("scans/labels.csv", "file,label,split\na,1,holdout\nb,2,train\n");
  EXPECT_THAT(refusal(config_of(scratch_.path("scans"))),
              HasSubstr("'holdout' is none of train, validation"));
  scratch_.write("scans/labels.csv", "file,label\na,1\na.nii,2\n");
  EXPECT_THAT(refusal(config_of(scratch_.path("scans"))), HasSubstr("'a' stands there twice"));
}

TEST_F(Volumes, OfALargerSizeThanTheBatchAreRefused) {
  const VolumeSet set = load_volumes(config_of(write("some3d.npz", six_arrays())));
  const std::vector<int64_t> samples = {0};
  EXPECT_THAT(gather_volumes(set, samples, {4, 4, 6}).values.sizes().vec(), ElementsAre(1, 4, 4, 6, 1));
  EXPECT_THROW(gather_volumes(set, samples, {3, 4, 4}), Error);
}

}  // namespace
}  // namespace modewise::data
