// Images of folders with a table of labels.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/data/image_classification/image_sets.h"

namespace modewise::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class LabelledImages : public Images {
 protected:
  /// Writes an image of the name, whose pixels differ by `tint`.
  void image(const std::string& name, int tint) { write_png("photos/" + name, tinted(2, 3, 3, tint)); }
  void table(const std::string& text) { scratch_.write("photos/labels.csv", text); }
  std::string photos() const { return scratch_.path("photos"); }
  std::string csv() const { return photos() + "/labels.csv"; }
  ImageConfig config() const { return config_of(photos()); }
  /// The sentence of an error of this table, which it must begin with.
  std::string refused(const std::string& text, ErrorKind kind = ErrorKind::data) {
    table(text);
    const std::string found = refusal(config(), kind), begin = csv() + ": ";
    EXPECT_THAT(found, StartsWith(begin));
    return found.substr(std::min(found.size(), begin.size()));
  }
  static bool has_pixels(const ImageSet& set, int64_t sample, int tint) {
    const io::Image expected = tinted(2, 3, 3, tint);
    const at::Tensor pixels = set.pixels[sample].contiguous();
    return std::equal(expected.pixels.begin(), expected.pixels.end(), pixels.const_data_ptr<uint8_t>());
  }
};

TEST_F(LabelledImages, FollowTheirTable) {
  image("images/b.png", 1);
  image("images/a.PNG", 2);
  image("more/deep/c.png", 3);
  image("d.png", 4);
  scratch_.write("photos/images/._b.png", "junk");
  table("file,label,split\nmore\\deep\\c.png,cat,test\nimages/b,dog,train\na,cat,validation\n");
  const ImageSet set = load_images(config());
  EXPECT_THAT(set.names, ElementsAre("a.PNG", "b.png", "c.png"));
  EXPECT_THAT(set.classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(set.labels, ElementsAre(0, 1, 0));
  EXPECT_THAT(set.train, ElementsAre(1));
  EXPECT_THAT(set.validation, ElementsAre(0));
  EXPECT_THAT(set.test, ElementsAre(2));
  for (const auto& [sample, tint] : {std::pair(0, 2), {1, 1}, {2, 3}})
    EXPECT_TRUE(has_pixels(set, sample, tint));
  EXPECT_THAT(set.notes,
              ElementsAre(fmt::format("1 file of {} without a row in {}, skipped: d.png", photos(), csv())));
  EXPECT_EQ(set.warnings, 1U);
  EXPECT_FALSE(set.split_here);
}

TEST_F(LabelledImages, OfAnotherTableTakeItsColumns) {
  image("1.png", 1);
  image("2.png", 2);
  ImageConfig given = config();
  given.labels = scratch_.write("HAM.tsv", "image_id\tdx\tkind\tfold\n1\tnv\tx\ttrain\n2\tmel\ty\tval\n");
  const auto without = [&] { return error_of(ErrorKind::data, [&] { load_images(given); }); };
  ImageSet set = load_images(given);
  EXPECT_THAT(set.classes, ElementsAre("mel", "nv"));
  EXPECT_THAT(set.notes,
              Contains(given.labels + ": the files are those of column 'image_id' (data.file_column)"));
  EXPECT_THAT(set.notes,
              Contains(given.labels + ": the labels are those of column 'dx' (data.label_column)"));
  given.label_column = "kind";
  given.split_column = "fold";
  set = load_images(given);
  EXPECT_THAT(set.classes, ElementsAre("x", "y"));
  EXPECT_THAT(set.validation, ElementsAre(1));
  EXPECT_THAT(set.notes, Not(Contains(HasSubstr("data.label_column"))));
  given.classes = {"y", "z", "x"};
  EXPECT_THAT(load_images(given).labels, ElementsAre(2, 0));
  given.classes = {"y"};
  EXPECT_EQ(without(), given.labels + ": class 'x' is not among data.classes");
  given.classes = {};
  given.file_column = "image";
  EXPECT_EQ(without(), given.labels +
                           ": there is no column 'image'; the columns are: "
                           "image_id, dx, kind, fold");
  given.labels = scratch_.path("none.csv");
  EXPECT_EQ(refusal(given, ErrorKind::no_input), "there is no file " + given.labels + " with the labels");
}

TEST_F(LabelledImages, MayHaveLostTheZerosOfTheirNames) {
  for (const int i : {7, 10, 11}) image(fmt::format("{:05}.png", i), i);
  table("file,label\n7.0,10\n10.0,9\n11.0,10\n");
  const ImageSet set = load_images(config());
  EXPECT_THAT(set.names, ElementsAre("00007.png", "00010.png", "00011.png"));
  EXPECT_THAT(set.classes, ElementsAre("9", "10"));
  EXPECT_THAT(set.labels, ElementsAre(1, 0, 1));
}

TEST_F(LabelledImages, ReadColumnsOfZeroAndOne) {
  for (const char* name : {"a.png", "b.png", "c.png"}) image(name, name[0]);
  table("image,MEL,NV,UNK,patient\na,0.0,1.0,0.0,p\nb,1,0,0,p\nc,0,1,0,q\n");
  const ImageSet set = load_images(config());
  EXPECT_THAT(set.classes, ElementsAre("MEL", "NV"));
  EXPECT_THAT(set.labels, ElementsAre(1, 0, 1));
  EXPECT_THAT(set.groups, ElementsAre("p", "p", "q"));
  EXPECT_THAT(set.notes, Contains(csv() + ": the classes are the columns of 0 and 1: MEL, NV, UNK"));
  EXPECT_EQ(refused("image,MEL,NV\na,1,0\nb,1,1\nc,0,1\n"),
            "row 2 has a 1 in 2 of the columns of 0 and 1 (MEL, NV), expected one; several classes for one "
            "file are not supported");
  EXPECT_EQ(refused("image,MEL,NV\na,1,0\nb,0,0\nc,0,1\n"),
            "row 2 has a 1 in 0 of the columns of 0 and 1, expected one; several classes for one file are "
            "not supported");
  const std::string expected =
      "expected a column of files (file) and one of classes (label), or of 0 and 1 for each class; "
      "data.file_column and data.label_column select others, data.labels = none leaves the table out; the "
      "columns are: ";
  EXPECT_EQ(refused("image,MEL,NV\na,1,0\nb,0.5,0.5\nc,0,1\n"), expected + "image, MEL, NV");
  EXPECT_EQ(refused("image,MEL,NV\na,1,0\nb,,1\nc,0,1\n"), expected + "image, MEL, NV");
  EXPECT_EQ(refused("image,ill\na,1\nb,0\nc,0\n"), expected + "image, ill");
  EXPECT_EQ(refused("MEL,NV\n1,0\n0,1\n0,1\n"), expected + "MEL, NV");
}

TEST_F(LabelledImages, MustFitTheirTable) {
  image("x/a.png", 1);
  image("y/a.png", 2);
  image("y/b.png", 3);
  EXPECT_EQ(refused("file,label\na,1\nb,2\n"),
            fmt::format("row 1: 'a' means 2 files, such as x/a.png and y/a.png; name files by their path "
                        "relative to {}",
                        photos()));
  EXPECT_EQ(refused("file,label\nx/a,1\nx/a.png,2\n"), "duplicate file 'x/a'");
  EXPECT_EQ(refused("file,label\ny/b,1\nb.png,2\n"), "duplicate file 'b': row 2 means y/b.png again");
  EXPECT_EQ(refused("file,label\nx/a,1\ny/b,\n"), "row 2 has no class");
  EXPECT_EQ(refused("file,label\nx/a,1\n,2\n"), "row 2 has no file");
  EXPECT_EQ(refused("file,label,split\nx/a,1,train\ny/b,2,\n"), "some rows have a split and others do not");
  EXPECT_EQ(refused("file,label,split\nx/a,1,train\ny/b,2,holdout\n"),
            "'holdout' is not train, validation or test; without the column the images are split by class");
  table("file,label\nx/a,1,2\n");
  EXPECT_EQ(refusal(config()), csv() + ":2: expected 2 cells as in the header, got 3");
  table("file,label\np,1\nq,2\n");
  EXPECT_EQ(refusal(config()),
            fmt::format("{}: {} lists none of its files: 3 files: x/a.png, y/a.png, y/b.png; 2 rows: p, q",
                        photos(), csv()));
  table("file,label\nx/a,1\ny/b,2\np,1\n");
  EXPECT_THAT(load_images(config()).notes,
              Contains(fmt::format("1 row of {} without a file in {}, skipped: p", csv(), photos())));
  ImageConfig strict = config();
  strict.strict = true;
  EXPECT_EQ(refusal(strict),
            fmt::format("1 row of {} without a file in {}: p (data.strict)", csv(), photos()));
  table("file,label\nx/a,1\ny/b,2\n");
  EXPECT_EQ(refusal(strict),
            fmt::format("1 file of {} without a row in {}: y/a.png (data.strict)", photos(), csv()));
  EXPECT_EQ(load_images(config()).notes[1],
            photos() +
                ": the classes are those of labels.csv, not the folders x, y; data.labels = none takes "
                "the folders");
  strict.labels = "none";
  EXPECT_THAT(load_images(strict).classes, ElementsAre("x", "y"));
  scratch_.write("empty/labels.csv", "file,label\na,1\n");
  EXPECT_EQ(
      refusal(config_of(scratch_.path("empty"))),
      fmt::format("{0}: expected images (.png, .jpg, .jpeg) in this folder, which {0}/labels.csv labels, "
                  "found none",
                  scratch_.path("empty")));
}

TEST_F(LabelledImages, OfAPatientStayInOneSplitWithAndWithoutTheTestImages) {
  std::string rows = "file,label,patient\n";
  for (int i = 0; i < 40; ++i) {
    image(fmt::format("{:02}.png", i), i);
    rows += fmt::format("{:02},{},P{}\n", i, i / 4 % 2 == 0 ? "x" : "y", i / 4);
  }
  table(rows);
  ImageConfig given = config();
  given.split_ratios = {0.6, 0.2, 0.2};
  const ImageSet whole = load_images(given);
  EXPECT_TRUE(whole.split_here);
  EXPECT_THAT(whole.notes,
              Contains(csv() + ": images of equal 'patient' stay in one split (data.group_column)"));
  std::map<std::string, std::set<int>> splits;
  const auto lists = {&whole.train, &whole.validation, &whole.test};
  int number = 0;
  for (const auto* list : lists) {
    for (const int64_t i : *list) splits[whole.groups[static_cast<size_t>(i)]].insert(number);
    ++number;
  }
  EXPECT_EQ(splits.size(), 10U);
  for (const auto& [patient, found] : splits) EXPECT_EQ(found.size(), 1U) << patient;
  EXPECT_EQ(whole.train.size(), 24U);
  for (const int64_t i : whole.test)
    scratch_.write("photos/" + whole.names[static_cast<size_t>(i)], "broken");
  const ImageSet without = load_images(given, false);
  EXPECT_THAT(without.test, IsEmpty());
  ASSERT_EQ(without.train.size(), whole.train.size());
  for (size_t i = 0; i < whole.train.size(); ++i) {
    const int64_t before = whole.train[i], now = without.train[i];
    EXPECT_EQ(without.names[static_cast<size_t>(now)], whole.names[static_cast<size_t>(before)]);
    EXPECT_TRUE(without.pixels[now].equal(whole.pixels[before]));
  }
  EXPECT_THAT(refusal(given), HasSubstr("expected a PNG or JPEG image"));
  given.skip_broken = 8;
  const ImageSet left = load_images(given);
  EXPECT_EQ(left.count(), 32);
  EXPECT_EQ(left.train.size(), 24U);
  EXPECT_THAT(left.notes.front(), StartsWith("8 of 40 files cannot be read and are left out"));
}

TEST_F(LabelledImages, KeepTheSplitsOfTheirFolders) {
  for (const char* name : {"train/a.png", "train/b.png", "val/c.png", "test/d.png"}) image(name, name[6]);
  table("file,label\na,x\nb,y\nc,x\nd,y\n");
  const ImageSet set = load_images(config());
  EXPECT_THAT(set.names, ElementsAre("d.png", "a.png", "b.png", "c.png"));
  EXPECT_THAT(set.test, ElementsAre(0));
  EXPECT_THAT(set.validation, ElementsAre(3));
  EXPECT_FALSE(set.split_here);
}

TEST_F(LabelledImages, OfOtherDataNeedNoTable) {
  image("a.png", 1);
  image("b.png", 2);
  ImageConfig given = config();
  given.labels = "elsewhere.csv";
  given.file_column = "picture";
  given.group_column = "person";
  given.classes = {"x", "y"};
  given.trained = true;
  given.use_other_data();
  given.labelled = false;
  EXPECT_THAT(load_images(given).labels, ElementsAre(-1, -1));
  table("file,label\nb,y\nz,x\n");
  EXPECT_THAT(load_images(given).labels, ElementsAre(-1, 1));
  table("image,x,y,split,patient\nb,0,1,test,p\n");
  EXPECT_THAT(load_images(given).labels, ElementsAre(-1, 1));
  given.labelled = true;
  EXPECT_THAT(load_images(given).names, ElementsAre("b.png"));
  table("file,label\nb,z\n");
  EXPECT_EQ(refusal(given), csv() + ": class 'z' is not among data.classes");
  given.labelled = false;
  EXPECT_THAT(load_images(given).labels, ElementsAre(-1, -1));
}

TEST_F(LabelledImages, WithoutATableNameWhatIsMissing) {
  const std::string expected =
      ": expected one folder of images (.png, .jpg, .jpeg) per class, or folders train and test of such "
      "folders, or labels.csv with the columns file and label, found none";
  image("a.png", 1);
  EXPECT_EQ(refusal(config()), photos() + expected);
  const std::string path = scratch_.write("photos/meta.csv", "image,dx\na,1\n");
  EXPECT_EQ(refusal(config()),
            fmt::format("{}{}; --labels {} (data.labels) reads the classes of the images from a table",
                        photos(), expected, path));
  std::filesystem::rename(photos() + "/a.png", photos() + "/b.txt");
  image("images/a.png", 1);
  EXPECT_EQ(
      refusal(config()),
      fmt::format(
          "{}: all images are in one folder, 'images', but a folder for each class, or a table of labels "
          "(labels.csv), is expected; --labels {} (data.labels) reads the classes of the images from a table",
          photos(), path));
  image("more/deep/c.png", 1);
  EXPECT_EQ(refusal(config()),
            fmt::format("{}/more: expected images (.png, .jpg, .jpeg) of class 'more' in this folder, found "
                        "none; images of its subfolders are not read; --labels {} (data.labels) reads the "
                        "classes of the images from a table",
                        photos(), path));
  std::filesystem::rename(photos() + "/more/deep/c.png", photos() + "/more/c.png");
  std::filesystem::remove(photos() + "/more/deep");
  EXPECT_EQ(load_images(config()).notes.front(),
            fmt::format("skipped 2 of the entries of {}: not an image (.png, .jpg, .jpeg) of a class; the "
                        "first: {}/b.txt; --labels {} (data.labels) reads the classes of the images from a "
                        "table",
                        photos(), photos(), path));
  ImageConfig given = config();
  for (const auto& [name, column] :
       {std::pair("file_column", &given.file_column), std::pair("label_column", &given.label_column),
        std::pair("split_column", &given.split_column), std::pair("group_column", &given.group_column)}) {
    *column = "x";
    EXPECT_EQ(refusal(given, ErrorKind::config),
              fmt::format("data.{} = x: {} has no table of labels (CSV), which would have such a column",
                          name, photos()));
    *column = "";
  }
  given = config_of(scratch_.path("some.npz"));
  io::write_npz(given.path, {}, true);
  given.labels = path;
  EXPECT_EQ(refusal(given, ErrorKind::config),
            fmt::format("data.labels = {}: a table is read for folders of images, but {} has its own labels",
                        path, given.path));
}

}  // namespace
}  // namespace modewise::data
