// Images from folders of PNG and JPEG files, and from NPZ files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/data/image_classification/image_sets.h"

namespace modewise::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Images, OfFoldersAreInTheOrderOfTheirBytes) {
  write_png("train/b/x10.png", tinted(3, 5, 3, 1));
  write_png("train/b/x2.PNG", tinted(3, 5, 3, 2));
  write_png("train/B/\xC3\xA9.png", tinted(3, 5, 3, 3));
  scratch_.write("train/b/a.jpeg", io::format_jpeg(tinted(3, 5, 3, 4), 90));
  write_png("val/B/1.png", tinted(3, 5, 3, 5));
  write_png("test/b/1.png", tinted(3, 5, 3, 6));
  const ImageSet set = load_images(config_of(root()));
  EXPECT_THAT(set.classes, ElementsAre("B", "b"));
  EXPECT_THAT(set.names,
              ElementsAre("B/\xC3\xA9.png", "b/a.jpeg", "b/x10.png", "b/x2.PNG", "B/1.png", "b/1.png"));
  EXPECT_THAT(set.labels, ElementsAre(0, 1, 1, 1, 0, 1));
  EXPECT_THAT(set.train, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(set.validation, ElementsAre(4));
  EXPECT_THAT(set.test, ElementsAre(5));
  EXPECT_EQ(set.warnings, 1U);  // B and b differ in case alone
  EXPECT_FALSE(set.split_here);
  const std::vector<int64_t> sizes = {6, 3, 5, 3};
  EXPECT_EQ(set.pixels.sizes().vec(), sizes);
  const io::Image expected = tinted(3, 5, 3, 2);
  for (size_t i = 0; i < 45; ++i)
    EXPECT_EQ(set.pixels[3].flatten()[static_cast<int64_t>(i)].item<int>(), expected.pixels[i]);
}

TEST_F(Images, OfFoldersWithoutPartsAreSplitByClass) {
  for (int i = 0; i < 20; ++i) {
    write_png(fmt::format("cat/{:02}.png", i), tinted(2, 2, 1, i));
    if (i < 10) write_png(fmt::format("dog/{:02}.png", i), tinted(2, 2, 1, i + 20));
  }
  ImageConfig config = config_of(root());
  const ImageSet set = load_images(config);
  EXPECT_TRUE(set.split_here);
  EXPECT_EQ(set.channels(), 1);  // no image has a color
  EXPECT_THAT(set.class_counts(set.train), ElementsAre(14, 7));
  EXPECT_THAT(set.class_counts(set.validation), ElementsAre(2, 1));
  EXPECT_THAT(set.class_counts(set.test), ElementsAre(4, 2));
  // Without the test images, which are not read, the others are the same.
  std::string broken = set.names[static_cast<size_t>(set.test[2])];
  scratch_.write(broken, "no picture");
  const ImageSet without = load_images(config, false);
  EXPECT_EQ(without.count(), 24);
  ASSERT_EQ(without.train.size(), set.train.size());
  for (size_t i = 0; i < set.train.size(); ++i) {
    const auto before = static_cast<size_t>(set.train[i]), now = static_cast<size_t>(without.train[i]);
    EXPECT_EQ(without.names[now], set.names[before]);
    EXPECT_TRUE(without.pixels[static_cast<int64_t>(now)].equal(set.pixels[static_cast<int64_t>(before)]));
  }
  EXPECT_THAT(refusal(config),
              AllOf(StartsWith(scratch_.path(broken)), HasSubstr("expected a PNG or JPEG image")));
  config.split_ratios = {0.8, 0, 0.2};
  EXPECT_TRUE(load_images(config, false).validation.empty());
}

TEST_F(Images, OfFoldersLeaveOutWhatIsNoneWithAWarning) {
  write_png("train/a/1.png", tinted(3, 3, 3, 1));
  write_png("train/b/1.png", tinted(3, 3, 3, 2));
  scratch_.write("train/a/notes.txt", "hello");
  scratch_.write("train/readme.md", "hello");
  scratch_.write("train/a/.hidden", "hello");
  scratch_.write("train/b/deeper/2.png", "hello");
  const ImageSet set = load_images(config_of(root()));
  EXPECT_EQ(set.count(), 2);
  ASSERT_EQ(set.warnings, 1U);
  EXPECT_EQ(set.notes.front(),
            fmt::format(
                "skipped 3 of the entries of {}: not an image (.png, .jpg, .jpeg) of a class; the first: {}",
                root(), scratch_.path("train/a/notes.txt")));
}

TEST_F(Images, OfBrokenFilesAreLeftOutUpToALimit) {
  for (int i = 0; i < 10; ++i)
    write_png(fmt::format("{}/{}.png", i % 2 == 0 ? "cat" : "dog", i), tinted(2, 2, 3, i));
  ImageConfig config = config_of(root());
  config.split_ratios = {0.6, 0.2, 0.2};
  const ImageSet whole = load_images(config);
  const std::string broken = whole.names[static_cast<size_t>(whole.train[1])];
  scratch_.write(broken, std::string("BM\x46\0\0\0\0\0\0\0\x36\0", 12));
  const std::string first = scratch_.path(broken) + ": expected a PNG or JPEG image; this is a BMP image";
  EXPECT_EQ(refusal(config),
            first + "; data.skip_broken = 1 (a number of files, or a fraction below 1) leaves it out");
  config.skip_broken = 0.2;
  for (const bool with_test : {true, false}) {
    const ImageSet set = load_images(config, with_test);
    EXPECT_EQ(set.count(), with_test ? 9 : 7);
    ASSERT_EQ(set.train.size(), 5U);
    for (size_t i = 0; i < 5; ++i) {
      const int64_t before = whole.train[i == 0 ? 0 : i + 1], now = set.train[i];
      EXPECT_EQ(set.names[static_cast<size_t>(now)], whole.names[static_cast<size_t>(before)]);
      EXPECT_TRUE(set.pixels[now].equal(whole.pixels[before]));
    }
    EXPECT_EQ(set.warnings, 1U);
    EXPECT_EQ(set.notes.front(), fmt::format("1 of {} files cannot be read and is left out; the first is {}",
                                             with_test ? 10 : 8, first));
  }
}

TEST_F(Images, WithoutAnEndMarkerAreReadWithAWarning) {
  const std::string whole = io::format_jpeg(tinted(9, 9, 3, 1), 90);
  scratch_.write("train/a/1.Jpg", whole);
  scratch_.write("train/b/2.JPE", whole.substr(0, whole.size() - 2));
  const ImageSet set = load_images(config_of(root()));
  EXPECT_TRUE(set.pixels[0].equal(set.pixels[1]));
  EXPECT_EQ(set.notes.front(),
            fmt::format("1 of 2 files is damaged, but read; the first is {}: no end marker, but all "
                        "pixels",
                        scratch_.path("train/b/2.JPE")));
  scratch_.write("train/b/2.JPE", whole.substr(0, whole.size() - 8));
  EXPECT_THAT(refusal(config_of(root())), HasSubstr("2.JPE: cannot decode the JPEG image (row"));
}

TEST_F(Images, OfFoldersMustBeImagesOfTheClasses) {
  EXPECT_THAT(refusal(config_of(root())), HasSubstr("expected one folder of images"));
  write_png("train/a/1.png", tinted(3, 3, 3, 1));
  scratch_.write("train/a/2.png", "a text under a picture's name");
  EXPECT_THAT(refusal(config_of(root())),
              AllOf(StartsWith(scratch_.path("train/a/2.png")), HasSubstr("expected a PNG or JPEG image")));
  const std::string whole = io::format_png(tinted(3, 3, 3, 1));
  scratch_.write("train/a/2.png", whole.substr(0, whole.size() - 20));
  EXPECT_THAT(refusal(config_of(root())), HasSubstr("a/2.png: cannot decode the PNG image"));
  write_png("train/a/2.png", tinted(3, 4, 3, 1));
  EXPECT_THAT(refusal(config_of(root())),
              HasSubstr(fmt::format("a/2.png: 3 x 4 pixels, but {} has 3 x 3; data.size",
                                    scratch_.path("train/a/1.png"))));
  write_png("train/a/2.png", tinted(3, 3, 3, 1));
  write_png("test/z/2.png", tinted(3, 3, 3, 1));
  EXPECT_THAT(refusal(config_of(root())), HasSubstr("class 'z' is not among the training classes"));
  std::filesystem::remove(scratch_ / "test/z/2.png");
  EXPECT_THAT(refusal(config_of(root())), HasSubstr("of class 'z' in this folder, found none"));
}

TEST_F(Images, OneFileHasNoClassAndIsForATrainedModel) {
  for (const std::string name : {"x.png", "x.PNG", "x.jpg", "x.jpeg", "x.JPG"}) {
    const io::Image image = tinted(3, 5, 3, 7);
    scratch_.write(name,
                   name.back() == 'g' && name[2] == 'p' ? io::format_png(image) : io::format_jpeg(image, 90));
    ImageConfig config = config_of(scratch_.path(name));
    EXPECT_THAT(refusal(config), HasSubstr(name + ": expected images: a folder"));
    config.classes = {"a", "b"};
    const ImageSet set = load_images(config);
    EXPECT_THAT(set.names, ElementsAre(name));
    EXPECT_THAT(set.labels, ElementsAre(-1));
    EXPECT_THAT(set.test, ElementsAre(0));
    EXPECT_THAT(set.classes, ElementsAre("a", "b"));
  }
}

TEST_F(Images, OfAnySizeBecomeOfOne) {
  write_png("train/a/tall.png", tinted(9, 3, 3, 1));
  write_png("train/a/one.png", tinted(1, 1, 1, 7));
  scratch_.write("train/b/wide.jpg", io::format_jpeg(tinted(5, 17, 1, 2), 95));
  ImageConfig config = config_of(root());
  config.size = {4, 6};
  const ImageSet crop = load_images(config);
  EXPECT_THAT(crop.pixels.sizes().vec(), ElementsAre(3, 4, 6, 3));
  EXPECT_TRUE(crop.pixels[0].eq(7 * 37 % 256).all().item<bool>());  // the image of one pixel
  config.fit = "stretch";
  const ImageSet stretch = load_images(config);
  EXPECT_FALSE(stretch.pixels[1].equal(crop.pixels[1]));
  config.size = {4};
  EXPECT_THAT(refusal(config, ErrorKind::config), HasSubstr("data.size: expected height and width"));
}

TEST_F(Images, TooLargeAreReadWhereASizeIsWanted) {
  io::Image large{4096, 8191, 3, {}};
  large.pixels.assign(4096 * 8191 * 3, 30);
  write_png("train/a/1.png", large);
  write_png("train/b/1.png", tinted(3, 3, 3, 3));
  ImageConfig config = config_of(root());
  EXPECT_THAT(refusal(config), AllOf(HasSubstr("an image of 4096 x 8191 pixels"), HasSubstr("--allow-size")));
  config.size = {3, 5};
  EXPECT_TRUE(load_images(config).pixels[0].eq(30).all().item<bool>());
}

io::Array uint8_array(std::vector<int64_t> shape, int step) {
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  std::vector<uint8_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(static_cast<int>(i) * step);
  return io::make_array(std::move(shape), std::span<const uint8_t>(values));
}

io::Array label_column(const std::vector<uint8_t>& labels) {
  return io::make_array({std::ssize(labels), 1}, std::span<const uint8_t>(labels));
}

std::map<std::string, io::Array> medmnist_arrays(bool color) {
  const auto of = [&](int64_t n) {
    return color ? std::vector<int64_t>{n, 3, 5, 3} : std::vector<int64_t>{n, 3, 5};
  };
  return {{"train_images", uint8_array(of(4), 1)}, {"train_labels", label_column({0, 1, 2, 1})},
          {"val_images", uint8_array(of(2), 3)},   {"val_labels", label_column({2, 0})},
          {"test_images", uint8_array(of(1), 7)},  {"test_labels", label_column({1})}};
}

TEST_F(Images, OfNpzKeepTheirPartsAndBytes) {
  for (const bool color : {false, true}) {
    const std::string path = scratch_.path("some.npz");
    io::write_npz(path, medmnist_arrays(color), true);
    const ImageSet set = load_images(config_of(path));
    EXPECT_THAT(set.pixels.sizes().vec(), ElementsAre(7, 3, 5, color ? 3 : 1));
    EXPECT_THAT(set.labels, ElementsAre(0, 1, 2, 1, 2, 0, 1));
    EXPECT_THAT(set.validation, ElementsAre(4, 5));
    EXPECT_THAT(set.test, ElementsAre(6));
    EXPECT_THAT(set.classes, ElementsAre("0", "1", "2"));
    EXPECT_EQ(set.pixels[4].flatten()[2].item<int>(), 6);
    EXPECT_EQ(set.pixels[6].flatten()[14].item<int>(), 98);
    EXPECT_EQ(load_images(config_of(path), false).count(), 6);
  }
  auto arrays = medmnist_arrays(false);
  arrays.erase("val_images");
  arrays.erase("val_labels");
  const std::string path = scratch_.path("two.npz");
  io::write_npz(path, arrays, true);
  ImageConfig config = config_of(path);
  config.validation_share = 0.5;
  EXPECT_EQ(load_images(config).validation.size(), 3U);  // one, two and one per class: halves round up
}

TEST_F(Images, OfMedMnistHaveTheNamesOfItsClasses) {
  const auto classes = [&](const std::string& name, std::vector<std::string> asked = {}) {
    const std::string path = scratch_.path(name);
    io::write_npz(path, medmnist_arrays(false), true);
    ImageConfig config = config_of(path);
    config.classes = std::move(asked);
    return load_images(config).classes;
  };
  EXPECT_THAT(classes("octmnist.npz"),
              ElementsAre("choroidal neovascularization", "diabetic macular edema", "drusen", "normal"));
  EXPECT_EQ(classes("organcmnist_128.npz").size(), 11U);
  EXPECT_THAT(classes("octmnist.npz", {"a", "b", "c"}), ElementsAre("a", "b", "c"));
  io::write_npz(scratch_.path("pneumoniamnist.npz"), medmnist_arrays(false), true);
  EXPECT_THAT(refusal(config_of(scratch_.path("pneumoniamnist.npz"))),
              HasSubstr("label 2 of sample train 2 is out of range: there are 2 classes, 0 to 1"));
}

TEST_F(Images, OfNpzNameTheArrayThatIsWrong) {
  const auto refused = [&](std::map<std::string, io::Array> arrays) {
    io::write_npz(scratch_.path("some.npz"), arrays, true);
    return refusal(config_of(scratch_.path("some.npz")));
  };
  auto arrays = medmnist_arrays(false);
  arrays["val_images"] = uint8_array({2, 5, 3}, 1);
  EXPECT_THAT(refused(arrays),
              HasSubstr("val_images: images of [5, 3, 1], but the previous ones are [3, 5, 1]"));
  arrays = medmnist_arrays(false);
  arrays["train_images"] = uint8_array({4, 3, 5, 2}, 1);
  EXPECT_THAT(refused(arrays), HasSubstr("train_images: expected images [n, height, width] or"));
  arrays = medmnist_arrays(false);
  arrays["train_labels"] = uint8_array({4, 14}, 1);
  EXPECT_THAT(refused(arrays),
              HasSubstr("train_labels: expected 4 labels, one for each image, got shape [4, 14]"));
  arrays = medmnist_arrays(false);
  arrays["test_labels"] = label_column({5});
  EXPECT_THAT(refused(arrays),
              HasSubstr("label 5 of sample test 0 is out of range: there are 3 classes, 0 to 2"));
  arrays = medmnist_arrays(false);
  arrays.erase("test_images");
  EXPECT_THAT(refused(arrays), HasSubstr("test_images is missing (there are: test_labels, train_images"));
}

}  // namespace
}  // namespace modewise::data
