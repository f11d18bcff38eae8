// Volumes from NIfTI files and folders with CSV tables.

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

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
  EXPECT_THAT(set.notes,
              ElementsAre(fmt::format("1 file of {0} without a row in {0}/labels.csv, skipped: d.nii",
                                      scratch_.path("scans"))));
  EXPECT_THAT(set.size(), ElementsAre(4, 3, 2));
  EXPECT_TRUE(set.masked());  // c is smaller
  const std::vector<int64_t> all = {0, 1, 2};
  const LabelledBatch batch = gather_volumes(set, all);
  EXPECT_EQ(batch.values[0][3][2][1][0].item<float>(), 123);
  EXPECT_EQ(batch.values[1][3][2][1][0].item<float>(), 120);  // stored from right to left, reoriented to RAS
  EXPECT_EQ(batch.valid[2].sum().item<int64_t>(), 6);
  EXPECT_TRUE(batch.valid[0].all().item<bool>());

  config.spacing = 1;  // voxels of 1 × 2 × 3 mm
  EXPECT_THAT(load_volumes(config).size(), ElementsAre(4, 6, 6));
  config.spacing = 0;
  config.size = {2, 3, 2};
  EXPECT_FALSE(load_volumes(config).masked());
}

TEST_F(Volumes, OfFoldersHaveTheirNamesAsClasses) {
  for (const char* file : {"ill/a.nii", "ill/b.nii", "well/a.nii", "well/deep/b.nii"})
    scratch_.write(std::string("scans/") + file, nifti_bytes(2, 2, 2));
  VolumeConfig config = config_of(scratch_.path("scans"));
  config.split_ratios = {0.5, 0.0, 0.5};
  const VolumeSet set = load_volumes(config);
  EXPECT_THAT(set.classes, ElementsAre("ill", "well"));
  EXPECT_THAT(set.labels, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(set.names, ElementsAre("ill/a", "ill/b", "well/a", "well/deep/b"));
  EXPECT_THAT(set.notes,
              ElementsAre(HasSubstr("2 of the 2 test volumes are identical to"),
                          scratch_.path("scans") + ": classes from folder names: ill, well", testing::_));
  // Classes of a run that are not folder names.
  config.classes = {"ill", "unsure"};
  EXPECT_THAT(load_volumes(config).labels, ElementsAre(-1, -1, -1, -1));
  config.classes = {"well", "ill"};
  EXPECT_THAT(load_volumes(config).labels, ElementsAre(1, 1, 0, 0));
  // A table takes precedence; a file next to the folders disables them.
  config.classes = {};
  scratch_.write("scans/labels.csv", "file,label\nill/a,x\nill/b,y\nwell/a,x\nwell/deep/b,x\n");
  EXPECT_THAT(load_volumes(config).labels, ElementsAre(0, 1, 0, 0));
  scratch_.write("scans/labels.csv", "file,label\na,x\nb,y\n");
  EXPECT_EQ(refusal(config), fmt::format("{0}/labels.csv: row 1: 'a' means 2 files, such as ill/a.nii and "
                                         "well/a.nii; name files by their path relative to {0}",
                                         scratch_.path("scans")));
  std::filesystem::remove(scratch_.path("scans/labels.csv"));
  scratch_.write("scans/c.nii", nifti_bytes(2, 2, 2));
  EXPECT_THAT(load_volumes(config).labels, ElementsAre(-1, -1, -1, -1, -1));
}

TEST_F(Volumes, OfFoldersOfSplitsKeepThem) {
  for (const char* file : {"train/ill/a.nii", "train/well/b.nii", "val/ill/c.nii", "test/well/d.nii"})
    scratch_.write(std::string("scans/") + file, nifti_bytes(2, 2, 2));
  const VolumeSet set = load_volumes(config_of(scratch_.path("scans")));
  EXPECT_THAT(set.names, ElementsAre("d", "a", "b", "c"));
  EXPECT_THAT(set.labels, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(set.test, ElementsAre(0));
  EXPECT_THAT(set.train, ElementsAre(1, 2));
  EXPECT_THAT(set.validation, ElementsAre(3));
}

TEST_F(Volumes, OfATableKeepTheSplitsOfTheirFolders) {
  for (const char* file : {"train/a.nii", "train/b.nii", "valid/c.nii", "test/d.nii", "test/e.nii"})
    scratch_.write(std::string("scans/") + file, nifti_bytes(2, 2, 2));
  scratch_.write("scans/labels.csv", "file,label\na,x\nb,y\nc,x\nd,y\n");
  VolumeSet set = load_volumes(config_of(scratch_.path("scans")));
  EXPECT_THAT(set.names, ElementsAre("d", "a", "b", "c"));
  EXPECT_THAT(set.test, ElementsAre(0));
  EXPECT_THAT(set.train, ElementsAre(1, 2));
  EXPECT_THAT(set.validation, ElementsAre(3));
  EXPECT_EQ(set.notes.back(), scratch_.path("scans") + ": the splits are the folders test, train, valid");
  // A column of splits takes precedence, and so does a file in another folder.
  scratch_.write("scans/labels.csv", "file,label,split\na,x,test\nb,y,val\nc,x,train\nd,y,train\n");
  EXPECT_THAT(load_volumes(config_of(scratch_.path("scans"))).test, ElementsAre(1));
  scratch_.write("scans/labels.csv", "file,label\na,x\nb,y\nc,x\nd,y\nf,x\n");
  scratch_.write("scans/more/f.nii", nifti_bytes(2, 2, 2));
  EXPECT_FALSE(load_volumes(config_of(scratch_.path("scans"))).drawn.empty());
}

TEST_F(Volumes, OfATableAreAllPredicted) {
  for (const char* file : {"a", "b", "c"})
    scratch_.write(std::string("scans/") + file + ".nii", nifti_bytes(2, 2, 2));
  scratch_.write("scans/labels.csv", "file,label,split\nb,y,test\na,z,train\nq,x,train\n");
  VolumeConfig config = config_of(scratch_.path("scans"));
  config.label_column = "class";  // of the run's own table
  config.classes = {"x", "y"};
  config.use_other_data();
  EXPECT_EQ(refusal(config), scratch_.path("scans/labels.csv") + ": class 'z' is not among data.classes");
  config.labelled = false;
  EXPECT_THAT(load_volumes(config).labels, ElementsAre(-1, 1, -1));
}

TEST_F(Volumes, OfOneFolderHaveNoClasses) {
  for (const char* file : {"ill/a.nii", "ill/b.nii"})
    scratch_.write(std::string("scans/") + file, nifti_bytes(2, 2, 2));
  EXPECT_THAT(load_volumes(config_of(scratch_.path("scans"))).labels, ElementsAre(-1, -1));
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
  scratch_.write("dicom/1/b.dcm", std::string(128, '\0') + "DICM");
  scratch_.write("dicom/1/a.txt", "notes");
  EXPECT_THAT(refusal(config_of(scratch_.path("dicom"))),
              HasSubstr("found 'b.dcm', a DICOM file; write it as NIfTI, in Python with SimpleITK"));
  scratch_.write("scans/a.nii", nifti_bytes(2, 2, 2));
  scratch_.write("scans/labels.csv", "file,kind\na,1\nb,2\n");
  EXPECT_THAT(refusal(config_of(scratch_.path("scans"))),
              HasSubstr("expected a column of files (file) and one of"));
  scratch_.write("scans/labels.csv", "file,label,split\na,1,holdout\nb,2,train\n");
  EXPECT_THAT(refusal(config_of(scratch_.path("scans"))), HasSubstr("'holdout' is not train, validation"));
  scratch_.write("scans/labels.csv", "file,label\na,1\na.nii,2\n");
  EXPECT_THAT(refusal(config_of(scratch_.path("scans"))), HasSubstr("duplicate file 'a'"));
}

TEST_F(Volumes, OfAFolderTakeTheirColumnsAndSplitsByManyNames) {
  for (const char* name : {"a", "b", "c", "d", "e"})
    scratch_.write(std::string("scans/") + name + (name[0] == 'e' ? ".txt" : ".nii"), nifti_bytes(2, 2, 2));
  const std::string rows = "a,x,training\nb,y,valid\nc,x,val\nd,y,test\n";
  VolumeConfig config = config_of(scratch_.path("scans"));
  const std::string table = scratch_.path("scans/labels.csv");
  for (const std::string header : {"file,label,split", "filename,class,set", "path,target,subset",
                                   "image,diagnosis,split", "name,label,split", "id,label,split"}) {
    scratch_.write("scans/labels.csv", header + "\n" + rows);
    const VolumeSet set = load_volumes(config);
    EXPECT_THAT(set.train, ElementsAre(0)) << header;
    EXPECT_THAT(set.validation, ElementsAre(1, 2));
    EXPECT_THAT(set.test, ElementsAre(3));
    EXPECT_THAT(set.labels, ElementsAre(0, 1, 0, 1));
  }
  const VolumeSet without = load_volumes(config, false);
  EXPECT_THAT(without.names, ElementsAre("a", "b", "c"));
  scratch_.write("scans/labels.csv",
                 "file,other,label,split,half\na,u,x,train,test\nb,v,y,train,train\n"
                 "c,u,x,val,train\nd,v,y,test,train\n");
  config.label_column = "other";
  config.split_column = "half";
  VolumeSet set = load_volumes(config);
  EXPECT_THAT(set.classes, ElementsAre("u", "v"));
  EXPECT_THAT(set.test, ElementsAre(0));
  config.classes = {"v", "w", "u"};
  EXPECT_THAT(load_volumes(config).labels, ElementsAre(2, 0, 2, 0));
  config.classes = {"v"};
  EXPECT_EQ(refusal(config), table + ": class 'u' is not among data.classes");
  config.classes = {};
  config.label_column = "none";
  EXPECT_EQ(refusal(config),
            table + ": there is no column 'none'; the columns are: file, other, label, split, half");
  config.label_column = config.split_column = "";
  scratch_.write("scans/labels.csv", "file,label,split\na,x,train\nb,y,\nc,x,val\nd,y,test\n");
  EXPECT_EQ(refusal(config), table + ": some rows have a split and others do not");
  scratch_.write("scans/labels.csv", "file,label\na,x\nb,\nc,x\nd,y\n");
  EXPECT_EQ(refusal(config), table + ": row 2 has no class");
  scratch_.write("scans/labels.csv", "file,label\na,x\n,y\nc,x\nd,y\n");
  EXPECT_EQ(refusal(config), table + ": row 2 has no file");
  scratch_.write("scans/labels.csv", "file,label\nq,x\nr,y\n");
  EXPECT_EQ(refusal(config), scratch_.path("scans") + ": " + table +
                                 " lists none of its files: 4 files: a.nii, b.nii, c.nii, …; 2 rows: q, r");
  config.labels = scratch_.path("nowhere.csv");
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { load_volumes(config); }),
            "there is no file " + config.labels + " with the labels");
}

TEST_F(Volumes, OfAFolderSortNumbersAsNumbers) {
  for (const char* name : {"a", "b", "c"})
    scratch_.write(std::string("scans/") + name + ".nii", nifti_bytes(2, 2, 2));
  VolumeConfig config = config_of(scratch_.path("scans"));
  scratch_.write("scans/labels.csv", "file,label,split\na,10,train\nb,9,val\nc,-1.5,test\n");
  EXPECT_THAT(load_volumes(config).classes, ElementsAre("-1.5", "9", "10"));
  scratch_.write("scans/labels.csv", "file,label,split\na,9b,train\nb,10b,val\nc,9b,test\n");
  EXPECT_THAT(load_volumes(config).classes, ElementsAre("10b", "9b"));
}

TEST_F(Volumes, OfOneNiftiFileNeedNoTable) {
  VolumeConfig config = config_of(scratch_.write("a.nii", nifti_bytes(2, 2, 2)));
  config.classes = {"x", "y"};
  const VolumeSet set = load_volumes(config);
  EXPECT_THAT(set.names, ElementsAre("a"));
  EXPECT_THAT(set.labels, ElementsAre(-1));
  config.spacing = 2.0 / 4096;  // 2 voxels of 1 mm: 4096 voxels; the next axis has twice as many
  EXPECT_THAT(error_of(ErrorKind::config, [&] { load_volumes(config); }),
              HasSubstr("gives 8192 voxels for an axis of 2 × 2 mm"));
  config.spacing = 100;
  EXPECT_THAT(load_volumes(config).size(), ElementsAre(1, 1, 1));
  config.spacing = 100;
  config.size = {3, 2, 1};
  EXPECT_THAT(load_volumes(config).size(), ElementsAre(3, 2, 1));
  config = config_of(scratch_.write("b.nii", nifti_bytes(3, 1, 1, -1)));
  config.classes = {"x", "y"};
  config.intensity = "none";
  const std::vector<int64_t> first = {0};
  EXPECT_EQ(gather_volumes(load_volumes(config), first).values.flatten()[0].item<float>(), 2);
  config.orientation = "stored";
  EXPECT_EQ(gather_volumes(load_volumes(config), first).values.flatten()[0].item<float>(), 0);
}

TEST_F(Volumes, OfPatientsWithEqualFileNamesAreDistinguished) {
  for (const char* file : {"p1/ct.nii.gz", "p2/ct.nii.gz", "p3/._ct.nii", "__MACOSX/p1/._ct.nii"})
    scratch_.write(std::string("scans/") + file, "junk");
  for (const char* file : {"p1/ct.nii", "p2/ct.nii", "p3/ct.NII"})
    scratch_.write(std::string("scans/") + file, nifti_bytes(2, 2, 2));
  std::filesystem::remove(scratch_.path("scans/p1/ct.nii.gz"));
  std::filesystem::remove(scratch_.path("scans/p2/ct.nii.gz"));
  scratch_.write("scans/labels.csv",
                 "Patient ID,File Name,label,split\nA,p1/ct.nii,x,train\nB,p2\\ct.nii.gz,y,train\n"
                 "C,p3/ct,x,test\nD,p4/ct.nii,y,test\n");
  const VolumeSet set = load_volumes(config_of(scratch_.path("scans")));
  EXPECT_THAT(set.names, ElementsAre("p1/ct", "p2/ct", "p3/ct"));
  EXPECT_THAT(set.labels, ElementsAre(0, 1, 0));
  EXPECT_THAT(set.groups, ElementsAre("A", "B", "C"));
  EXPECT_THAT(set.notes,
              ElementsAre(fmt::format("1 row of {0}/labels.csv without a file in {0}, skipped: p4/ct.nii",
                                      scratch_.path("scans")),
                          HasSubstr("1 of the 1 test volumes is identical to"),
                          scratch_.path("scans/labels.csv") +
                              ": the files are those of column 'File Name' (data.file_column)",
                          HasSubstr("0 of 2 training groups moved to validation")));
  EXPECT_EQ(set.warnings, 2U);
  VolumeConfig strict = config_of(scratch_.path("scans"));
  strict.strict = true;
  EXPECT_EQ(refusal(strict),
            fmt::format("1 row of {0}/labels.csv without a file in {0}: p4/ct.nii (data.strict)",
                        scratch_.path("scans")));
}

TEST_F(Volumes, OfAPatientStayInOneSplit) {
  std::string rows = "file,label,patient\n";
  for (int i = 0; i < 40; ++i) {
    scratch_.write(fmt::format("scans/{:02}.nii", i), nifti_bytes(2, 2, 2));
    rows += fmt::format("{:02},{},P{}\n", i, i / 4 % 2 == 0 ? "x" : "y", i / 4);
  }
  scratch_.write("scans/labels.csv", rows);
  VolumeConfig config = config_of(scratch_.path("scans"));
  config.split_ratios = {0.6, 0.2, 0.2};
  const auto patients = [](const VolumeSet& set, const std::vector<int64_t>& samples) {
    std::set<std::string> out;
    for (const int64_t i : samples) out.insert(set.groups[static_cast<size_t>(i)]);
    return out;
  };
  const VolumeSet set = load_volumes(config), without = load_volumes(config, false);
  EXPECT_EQ(patients(set, set.train).size(), 6U);
  EXPECT_EQ(patients(set, set.test).size(), 2U);
  EXPECT_EQ(set.train.size(), 24U);
  EXPECT_EQ(patients(without, without.train), patients(set, set.train));
  config.group_column = "none";
  EXPECT_TRUE(load_volumes(config).groups.empty());
  scratch_.write("scans/labels.csv", "file,label,patient,split\n00,x,A,train\n01,y,A,test\n02,x,B,train\n");
  config.group_column = "";
  EXPECT_THAT(load_volumes(config).notes,
              testing::Contains("1 group of the column 'patient' with volumes in more than one split: A"));
}

TEST_F(Volumes, OfAFolderReadTheirTableAsTexts) {
  const std::vector<std::string> names = {"2020-01-01", "20200101123456780", "20200101123456781", "007"};
  for (const std::string& name : names) scratch_.write("scans/" + name + ".nii", nifti_bytes(2, 2, 2));
  VolumeConfig config = config_of(scratch_.path("scans"));
  const auto load = [&](const std::vector<std::string>& labels, const std::vector<std::string>& patients) {
    std::string rows = "file,label,patient\n";
    for (size_t i = 0; i < names.size(); ++i)
      rows += fmt::format("{},{},{}\n", names[i], labels[i], patients[i]);
    scratch_.write("scans/labels.csv", rows);
    return load_volumes(config);
  };
  VolumeSet set =
      load({"2020-01-01", "2020-01-02", "2020-01-01", "2020-01-02"}, {"1971-03-02", "101", "102b", "7.0"});
  EXPECT_THAT(set.classes, ElementsAre("2020-01-01", "2020-01-02"));
  // In the order of the files: 007, 2020-01-01, …
  EXPECT_THAT(set.labels, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(set.groups, ElementsAre("7", "1971-03-02", "101", "102b"));
  set = load({"a", "b", "a", "b"}, {"9007199254740992", "9007199254740993", "01", "NA"});
  EXPECT_THAT(set.groups, ElementsAre("", "9007199254740992", "9007199254740993", "01"));
  const std::string table = scratch_.path("scans/labels.csv");
  EXPECT_EQ(set.notes.front(),
            table + ": 1 volume without a 'patient' (data.group_column): each is a group of its own");
  EXPECT_THAT(set.notes, testing::Contains(
                             table + ": volumes of equal 'patient' stay in one split (data.group_column)"));
  EXPECT_EQ(load({"a", "b", "a", "b"}, {"1", "01", "1", "2"}).notes.front(),
            table +
                ": the groups '01' and '1' of the column 'patient' differ only in case, spaces or the form "
                "of a number; 1 such pair");
  // pandas writes integers so in a column with missing cells; other forms of one number stay apart.
  EXPECT_THAT(load({"1.0", "2.0", "1.0", "10.0"}, {"", "", "", ""}).classes, ElementsAre("1", "2", "10"));
  set = load({"1", "1.0", "01", "2"}, {"", "", "", ""});
  EXPECT_THAT(set.classes, ElementsAre("01", "1", "1.0", "2"));
  EXPECT_EQ(set.warnings, 3U);
  EXPECT_EQ(refusal(config), "");
  scratch_.write("scans/labels.csv", "file,label\n7.0,a\n2020-01-01,b\n");
  EXPECT_THAT(load_volumes(config).names, ElementsAre("007", "2020-01-01"));
}

TEST_F(Volumes, SayWhyASplitIsEmpty) {
  std::string rows = "file,label,group\n";
  for (int i = 0; i < 12; ++i) {
    scratch_.write(fmt::format("scans/{:02}.nii", i), nifti_bytes(2, 2, 2));
    rows += fmt::format("{:02},{},{}\n", i, i % 2, i % 2 == 0 ? "AD" : "CN");
  }
  scratch_.write("scans/labels.csv", rows);
  const VolumeSet set = load_volumes(config_of(scratch_.path("scans")));
  EXPECT_EQ(set.no_samples("validation"),
            "there are no validation volumes: 2 groups in 2 classes are split by data.split_ratios = "
            "[0.7, 0.1, 0.2] of each class, in groups of equal 'group' (data.group_column)");
}

TEST_F(Volumes, OfBrokenFilesAreLeftOutUpToALimit) {
  for (const char* file : {"ill/a.nii", "ill/b.nii", "ill/c.nii", "well/d.nii", "well/e.nii", "well/f.nii"})
    scratch_.write(std::string("scans/") + file, nifti_bytes(2, 2, 2));
  VolumeConfig config = config_of(scratch_.path("scans"));
  config.split_ratios = {0.67, 0, 0.33};
  const VolumeSet whole = load_volumes(config);
  const auto sample = static_cast<size_t>(whole.train[0]);
  const std::string broken = (whole.labels[sample] == 0 ? "ill/" : "well/") + whole.names[sample];
  scratch_.write("scans/" + broken + ".nii", "broken");
  EXPECT_THAT(refusal(config),
              testing::EndsWith("; data.skip_broken = 1 (a number of files, or a fraction below 1) "
                                "leaves it out"));
  config.skip_broken = 0.2;
  for (const bool with_test : {true, false}) {
    const VolumeSet set = load_volumes(config, with_test);
    EXPECT_EQ(set.train.size(), whole.train.size() - 1);
    EXPECT_EQ(set.test.size(), with_test ? whole.test.size() : 0);
    EXPECT_THAT(set.notes.front(),
                testing::StartsWith("1 of 6 files cannot be read and is left out; the first is " +
                                    scratch_.path("scans/" + broken + ".nii")));
    EXPECT_EQ(set.names[static_cast<size_t>(set.train[0])], whole.names[static_cast<size_t>(whole.train[1])]);
  }
}

TEST_F(Volumes, WarnOfFillValuesAndResampleWithoutThem) {
  const auto volumes = [&](float fill) {
    std::vector<float> values(4 * 4 * 4 * 4);
    for (size_t i = 0; i < values.size(); ++i) values[i] = i % 4 < 2 ? fill : 5;
    std::map<std::string, io::Array> arrays = {
        {"images", io::make_array({4, 4, 4, 4}, std::span<const float>(values))},
        {"labels", labels_of({0, 1, 0, 1})}};
    return config_of(write("fills.npz", arrays));
  };
  for (const float fill : {1e20F, -3.4e38F, -9999.0F, 9.96921e36F}) {
    VolumeConfig config = volumes(fill);
    config.intensity = "none";
    EXPECT_EQ(
        load_volumes(config).notes.front(),
        fmt::format("128 voxels have {0}, which usually stands for a missing value, the first in volume 0: "
                    "data.missing_values = [{0}] treats them as missing",
                    fill));
    config.missing_values = {fill};
    EXPECT_EQ(load_volumes(config).warnings, 0U);
    config.size = {2, 2, 2};  // along the last axis one of two voxels is missing
    const VolumeSet set = load_volumes(config);
    const std::vector<int64_t> first = {0};
    const LabelledBatch batch = gather_volumes(set, first);
    EXPECT_EQ(batch.valid.sum().item<int64_t>(), 4);
    EXPECT_EQ(batch.values.sum().item<float>(), 20);  // 5, not mixed with the fill value
  }
}

}  // namespace
}  // namespace modewise::data
