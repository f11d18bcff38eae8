// Exact error messages of volume data; all numbers and names in them are distinct.

#include <cstring>

#include "modewise/data/volume_classification/sources.h"
#include "modewise/io/arrays/npy.h"
#include "tests/data/volume_classification/volume_files.h"

namespace modewise::data {
namespace {

class VolumeSentences : public Volumes {
 protected:
  /// The message without the scratch folder's name.
  std::string said(ErrorKind kind, const VolumeConfig& config, bool with_test = true) {
    std::string message = error_of(kind, [&] { load_volumes(config, with_test); });
    const std::string folder = scratch_.path("");
    for (size_t at; (at = message.find(folder)) != std::string::npos;) message.erase(at, folder.size());
    return message;
  }
  /// Error for six arrays, some of them replaced.
  std::string with(std::map<std::string, io::Array> others) {
    std::map<std::string, io::Array> arrays = six_arrays();
    for (auto& [name, array] : others) arrays[name] = std::move(array);
    return said(ErrorKind::data, config_of(write("a.npz", arrays)));
  }
  /// Error for two arrays, images and labels.
  std::string of_plain(io::Array images, io::Array labels) {
    return said(ErrorKind::data,
                config_of(write("a.npz", {{"images", std::move(images)}, {"labels", std::move(labels)}})));
  }
};

TEST_F(VolumeSentences, OfMedMnist) {
  const VolumeConfig config = config_of(write("adrenalmnist3d.npz", six_arrays()));
  const std::string counts =
      "adrenalmnist3d.npz: adrenalmnist3d has 1188 + 98 + 298 samples (training, validation, test), this "
      "file ";
  EXPECT_EQ(said(ErrorKind::data, config), counts + "4 + 2 + 3; data.counts = \"any\" accepts it");
  EXPECT_EQ(said(ErrorKind::data, config, false), counts + "4 + 2 + 298; data.counts = \"any\" accepts it");
  VolumeConfig any = config;
  any.counts = "any";
  any.classes = {"a", "b", "c"};
  EXPECT_EQ(load_volumes(any).notes.front(), scratch_.path("") + counts + "4 + 2 + 3");
  auto arrays = six_arrays();
  arrays.erase("val_labels");
  const std::string wanted =
      ": expected the arrays train_images, train_labels, val_images, val_labels, test_images and "
      "test_labels, ";
  EXPECT_EQ(said(ErrorKind::data, config_of(write("b.npz", arrays))),
            "b.npz" + wanted +
                "val_labels is missing (there are: test_images, test_labels, train_images, train_labels, "
                "val_images)");
  EXPECT_EQ(said(ErrorKind::data, config_of(write("c.npz", {}))),
            "c.npz" + wanted + "train_images is missing (there are: none)");
  arrays = six_arrays();
  arrays.erase("test_labels");
  EXPECT_EQ(load_volumes(config_of(write("d.npz", arrays)), false).count(), 6);
}

TEST_F(VolumeSentences, OfOlderReleases) {
  std::map<std::string, io::Array> vessel;
  const std::vector<std::pair<std::string, int64_t>> older = {{"train", 1335}, {"val", 192}, {"test", 382}};
  for (const auto& [split, count] : older) {
    vessel[split + "_images"] = bytes_of({count, 1, 1, 1}, 1);
    vessel[split + "_labels"] = labels_of(std::vector<uint8_t>(static_cast<size_t>(count), 1));
  }
  const std::string path = write("vesselmnist3d.npz", vessel);
  EXPECT_EQ(
      load_volumes(config_of(path)).notes.front(),
      path +
          ": vesselmnist3d has 1335 + 191 + 382 samples (training, validation, test), this file 1335 + "
          "192 + 382: it is from an older release and contains a blank sample, removed in release 2.2.4; "
          "results differ from those on newer files");
}

TEST_F(VolumeSentences, OfShapesAndLabels) {
  EXPECT_EQ(
      with({{"val_images", bytes_of({2, 12}, 1)}}),
      "a.npz: val_images: expected volumes [samples, x, y, z] or [samples, x, y, z, channels], got shape "
      "[2, 12]");
  EXPECT_EQ(with({{"val_images", bytes_of({2, 3, 4, 5, 6, 7}, 1)}}),
            "a.npz: val_images: volumes with 4 axes and 7 channels, but the previous ones have 3 axes and 1 "
            "channels, or another type");
  const std::string expected = "a.npz: test_labels: expected 3 labels, one for each volume, got shape ";
  EXPECT_EQ(with({{"test_labels", labels_of({1, 0})}}), expected + "[2, 1]");
  EXPECT_EQ(with({{"test_labels", bytes_of({1, 3}, 1)}}), expected + "[1, 3]");
  EXPECT_EQ(with({{"test_labels", bytes_of({3, 1, 1}, 1)}}), expected + "[3, 1, 1]");
  EXPECT_EQ(with({{"test_labels", labels_of({1, 0, 7})}}),
            "a.npz: label 7 of sample test 2 is out of range: there are 3 classes, 0 to 2");
  const std::vector<double> half = {0, 1, 0.5}, maximum = {0, 1, 1e6 + 1};
  EXPECT_EQ(with({{"test_labels", io::make_array({3}, std::span<const double>(half))}}),
            "a.npz: test_labels: label 0.5 of sample 2 is not a whole number from 0");
  EXPECT_EQ(with({{"test_labels", io::make_array({3}, std::span<const double>(maximum))}}),
            "a.npz: test_labels: label 1000001 of sample 2 is not a whole number from 0");
  std::vector<float> holes(3 * 8, 2.0F);
  std::fill(holes.begin() + 8, holes.begin() + 16, std::nanf(""));
  EXPECT_EQ(of_plain(io::make_array({3, 2, 2, 2}, std::span<const float>(holes)), labels_of({0, 1, 0})),
            "a.npz: every voxel of volume 1 is missing");
  io::write_npy(scratch_.path("scan.npy"), bytes_of({6, 2, 3, 2}, 5));
  EXPECT_EQ(said(ErrorKind::no_input, config_of(scratch_.path("scan.npy"))),
            "scan.npy: there is no label file scan_labels.npy; set --labels FILE");
}

TEST_F(VolumeSentences, OfIntensities) {
  const std::vector<float> floats(2 * 8, 1.5F);
  VolumeConfig config =
      config_of(write("a.npz", {{"images", io::make_array({2, 2, 2, 2}, std::span<const float>(floats))},
                                {"labels", labels_of({0, 1})}}));
  config.intensity = "unit";
  EXPECT_EQ(said(ErrorKind::config, config),
            "data.intensity = \"unit\" is for volumes of uint8 or uint16; a.npz has another dtype: use range "
            "or volume");
}

/// A NIfTI-1 file of bytes with these axes; voxels are 1, 2 and 3 mm long.
std::string nifti(const std::vector<int16_t>& axes) {
  std::string bytes(352, '\0');
  const auto put = [&](size_t at, const auto& value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  };
  put(0, int32_t{348});
  int16_t dims[8] = {static_cast<int16_t>(axes.size()), 1, 1, 1, 1, 1, 1, 1};
  size_t count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    dims[i + 1] = axes[i];
    count *= static_cast<size_t>(axes[i]);
  }
  put(40, dims);
  put(70, int16_t{2});
  put(72, int16_t{8});
  const float pixdim[8] = {1, 1, 2, 3, 1, 1, 1, 1};
  put(76, pixdim);
  put(108, 352.0F);
  put(112, 1.0F);
  put(254, int16_t{1});
  const float rows[12] = {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0};
  put(280, rows);
  std::memcpy(bytes.data() + 344, "n+1", 4);
  return bytes + std::string(count, '\7');
}

TEST_F(VolumeSentences, OfNiftiFolders) {
  scratch_.write("none/readme.txt", "");
  EXPECT_EQ(said(ErrorKind::data, config_of(scratch_.path("none"))),
            "none: expected files .nii or .nii.gz in this folder, found none");
  scratch_.write("scans/a.nii", nifti({2, 3, 2}));
  scratch_.write("scans/b.nii", nifti({2, 3, 2, 5}));
  VolumeConfig config = config_of(scratch_.path("scans"));
  scratch_.write("scans/labels.csv", "file,kind\na,1\nb,2\n");
  EXPECT_EQ(
      said(ErrorKind::data, config),
      "scans/labels.csv: expected a column of files (file) and one of classes (label), or of 0 and 1 for "
      "each class; data.file_column and data.label_column select others, data.labels = none leaves the table "
      "out; the columns are: file, kind");
  scratch_.write("scans/labels.csv", "file,label,split\na,1,holdout\nb,2,train\n");
  EXPECT_EQ(said(ErrorKind::data, config),
            "scans/labels.csv: 'holdout' is not train, validation or test; "
            "without the column the volumes are split by class");
  scratch_.write("scans/labels.csv", "file,label\na,1\na.nii,2\n");
  EXPECT_EQ(said(ErrorKind::data, config), "scans/labels.csv: duplicate file 'a'");
  scratch_.write("scans/labels.csv", "file,label,split\na,1,train\nb,2,train\n");
  EXPECT_EQ(said(ErrorKind::data, config), "scans/b.nii: 5 channels, but the previous volumes have 1");
  scratch_.write("scans/b.nii", nifti({2, 3, 2}));
  scratch_.write("scans/labels.csv", "file,label,split\na,1,test\nb,2,test\n");
  EXPECT_EQ(said(ErrorKind::data, config, false), "scans: expected volumes, found none");
  scratch_.write("scans/labels.csv", "file,label,split\na,1,train\n");
  EXPECT_EQ(
      load_volumes(config).notes.front(),
      fmt::format("1 file of {0} without a row in {0}/labels.csv, skipped: b.nii", scratch_.path("scans")));
  config.spacing = 2.0 / 4096;  // 4096 voxels along x, more along y
  EXPECT_EQ(said(ErrorKind::config, config),
            "data.spacing = 0.00048828125 gives 12288 voxels for an axis of 3 × 2 mm");
  config = config_of(scratch_.write("flat.nii", nifti({4, 3})));
  config.classes = {"x", "y"};
  EXPECT_EQ(load_volumes(config).size(), (std::vector<int64_t>{4, 3, 1}));  // a missing axis has size 1
}

}  // namespace
}  // namespace modewise::data
