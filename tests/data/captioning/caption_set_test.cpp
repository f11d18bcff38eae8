// Caption sets: image lists, splits, and the model input from pixels and words.

#include "modewise/data/captioning/caption_set.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "modewise/io/arrays/npz.h"
#include "modewise/io/images/png.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;

class Captions : public testing::Test {
 protected:
  /// Images of one colour each, 10 × id, with COCO captions files.
  void write(const std::string& json, const std::string& folder,
             const std::vector<std::pair<int64_t, std::string>>& captions, const std::vector<int64_t>& ids) {
    std::string images, annotations;
    for (const int64_t id : ids) {
      images += fmt::format(R"({}{{"id": {}, "file_name": "{}.png"}})", images.empty() ? "" : ", ", id, id);
      io::Image image{3, 5, 1, {}};
      image.pixels.assign(15, static_cast<uint8_t>(10 * id));
      scratch_.write(fmt::format("{}/{}.png", folder, id), io::format_png(image));
    }
    for (const auto& [id, text] : captions)
      annotations +=
          fmt::format(R"({}{{"image_id": {}, "caption": "{}"}})", annotations.empty() ? "" : ", ", id, text);
    scratch_.write(json, fmt::format(R"({{"images": [{}], "annotations": [{}]}})", images, annotations));
  }
  /// Ten images with one caption each.
  CaptionConfig ten(const char* caption = "Picture {} here.") {
    std::vector<std::pair<int64_t, std::string>> captions;
    std::vector<int64_t> ids;
    for (int64_t id = 1; id <= 10; ++id) {
      ids.push_back(id);
      captions.emplace_back(id, fmt::format(fmt::runtime(caption), id));
    }
    write("ten.json", "ten", captions, ids);
    return config_of("ten.json", "ten");
  }
  CaptionConfig config_of(const std::string& json, const std::string& folder) const {
    CaptionConfig config;
    config.path = scratch_.path(json);
    config.images = scratch_.path(folder);
    config.size = 2;
    return config;
  }
  std::string refusal(const CaptionConfig& config, ErrorKind kind = ErrorKind::data) const {
    return error_of(kind, [&] { load_captions(config); });
  }
  ScratchFolder scratch_;
};

std::vector<int64_t> ids_of(const CaptionSet& set, const std::vector<int64_t>& part) {
  std::vector<int64_t> ids;
  for (const int64_t i : part) ids.push_back(set.images[static_cast<size_t>(i)].id);
  return ids;
}

TEST(CaptionVocabulary, OrdersWordsByTheirCountAndThenByTheirBytes) {
  const std::vector<std::vector<std::string>> captions = {{"a", "dog", "on", "a", "mat"}, {"a", "cat", "on"}};
  const Vocabulary all = vocabulary_of(captions, 1);
  EXPECT_THAT(all.words(), ElementsAre("a", "on", "cat", "dog", "mat"));
  EXPECT_EQ(all.size(), 9);
  const Vocabulary frequent = vocabulary_of(captions, 2);
  EXPECT_THAT(frequent.words(), ElementsAre("a", "on"));
  const std::vector<std::string> words = {"on", "dog", "a"};
  EXPECT_THAT(frequent.numbers(words), ElementsAre(5, 3, 4));
  const std::vector<int64_t> numbers = {1, 4, 3, 5, 2, 4};
  EXPECT_EQ(frequent.text(numbers), "a <unknown> on");
  EXPECT_EQ(error_of(ErrorKind::data,
                     [] {
                       Vocabulary({"a", "b", "a"}, "data.json");
                     }),
            "data.json: words[2]: duplicate word 'a'");
  EXPECT_EQ(error_of(ErrorKind::data,
                     [] {
                       Vocabulary({"a", ""}, "data.json");
                     }),
            "data.json: words[1] is empty");
}

TEST(CaptionTokensOfWords, StandBehindTheBeginMarkAndBeforeTheEnd) {
  const std::vector<std::vector<int64_t>> captions = {{7, 5}, {4, 5, 6, 7, 8}, {}};
  const CaptionTokens tokens = caption_tokens(captions, 4);
  const at::Tensor inputs = at::tensor({1, 7, 5, 0, 1, 4, 5, 6, 1, 0, 0, 0}, at::kLong).view({3, 4});
  const at::Tensor targets = at::tensor({7, 5, 2, 0, 4, 5, 6, 7, 2, 0, 0, 0}, at::kLong).view({3, 4});
  EXPECT_TRUE(tokens.inputs.equal(inputs)) << tokens.inputs;
  EXPECT_TRUE(tokens.targets.equal(targets)) << tokens.targets;
  EXPECT_EQ(caption_tokens(captions, 9).inputs.size(1), 6);  // five words and EOS
}

TEST_F(Captions, AreReadWithTheirImagesAndWords) {
  write("some.json", "some",
        {{3, "A dog, and a cat."}, {1, "The dog's here!"}, {3, "Two animals"}, {2, " . "}}, {3, 1, 2, 4});
  CaptionConfig config = config_of("some.json", "some");
  config.split_ratios = {1, 0, 0};
  const CaptionSet set = load_captions(config);
  ASSERT_EQ(set.images.size(), 2U);
  EXPECT_EQ(set.images[0].file, "3.png");
  EXPECT_THAT(set.images[0].captions, ElementsAre("A dog, and a cat.", "Two animals"));
  EXPECT_THAT(set.images[0].words,
              ElementsAre(ElementsAre("a", "dog", "and", "a", "cat"), ElementsAre("two", "animals")));
  EXPECT_THAT(set.images[1].words, ElementsAre(ElementsAre("the", "dog", "'s", "here")));
  EXPECT_THAT(ids_of(set, set.train), ElementsAre(3, 1));
  EXPECT_THAT(set.vocabulary.words(),
              ElementsAre("a", "dog", "'s", "and", "animals", "cat", "here", "the", "two"));
  EXPECT_EQ(set.warnings, 2U);
  EXPECT_THAT(
      set.notes,
      ElementsAre(config.path + ": 1 captions have no words, skipped; the first is annotations[3] of image 2",
                  config.path + ": 2 images have no caption, skipped; the first is image 2"));
  const io::CaptionFile references = set.references(set.train);
  EXPECT_EQ(references.captions.size(), 3U);
  EXPECT_EQ(references.captions.text(references.captions.of(1).front()), "The dog's here!");
}

TEST_F(Captions, GiveTheModelColorsOfMeanZeroAndStdOne) {
  write("some.json", "some", {{1, "a"}, {2, "b"}, {25, "c"}}, {1, 2, 25});
  scratch_.write("test.txt", "25\n");
  CaptionConfig config = config_of("some.json", "some");
  config.test_ids = scratch_.path("test.txt");
  config.split_ratios = {1, 0, 0};
  const CaptionSet set = load_captions(config);
  EXPECT_THAT(set.pixels.sizes().vec(), ElementsAre(3, 2, 2, 3));
  EXPECT_FLOAT_EQ(set.mean[1].item<float>(), 15 / 255.0F);
  EXPECT_FLOAT_EQ(set.stddev[2].item<float>(), 5 / 255.0F);
  const std::vector<int64_t> samples = {1, 2};
  const at::Tensor images = gather_images(set, samples);
  EXPECT_THAT(images.sizes().vec(), ElementsAre(2, 3, 2, 2));
  EXPECT_NEAR(images[0][0][1][1].item<double>(), 1, 1e-5);
  EXPECT_FLOAT_EQ(images[1][2][0][1].item<double>(),
                  (250 - 15) / 5.0);  // a test image, with the training statistics
}

TEST_F(Captions, AreSplitBySharesWithASeed) {
  CaptionConfig config = ten();
  const CaptionSet set = load_captions(config);
  EXPECT_EQ(set.train.size(), 8U);
  EXPECT_EQ(set.validation.size(), 1U);
  EXPECT_EQ(set.test.size(), 1U);
  const CaptionSet without = load_captions(config, false);
  EXPECT_EQ(without.images.size(), 9U);
  EXPECT_EQ(ids_of(without, without.train), ids_of(set, set.train));
  EXPECT_EQ(ids_of(without, without.validation), ids_of(set, set.validation));
  EXPECT_EQ(without.pixels.size(0), 9);
  config.split_seed = 2;
  EXPECT_NE(ids_of(set, set.train), ids_of(load_captions(config), load_captions(config).train));
}

TEST_F(Captions, AreSplitByFilesOfIds) {
  CaptionConfig config = ten();
  config.validation_ids = scratch_.path("validation.txt");
  config.test_ids = scratch_.path("test.txt");
  scratch_.write("validation.txt", "7\r\n\n  2");
  scratch_.write("test.txt", "10\n3\n4\n");
  const CaptionSet set = load_captions(config);
  EXPECT_THAT(ids_of(set, set.validation), ElementsAre(2, 7));
  EXPECT_THAT(ids_of(set, set.test), ElementsAre(3, 4, 10));
  EXPECT_THAT(ids_of(set, set.train), ElementsAre(1, 5, 6, 8, 9));
  scratch_.write("test.txt", "10\n11\n");
  EXPECT_EQ(refusal(config), config.test_ids + ":2: image 11 is not a captioned image of " + config.path);
  scratch_.write("test.txt", "10\nten\n");
  EXPECT_EQ(refusal(config), config.test_ids + ":2: expected the id or the file name of an image, got 'ten'");
  scratch_.write("test.txt", "10\n10\n");
  EXPECT_EQ(refusal(config), config.test_ids + ":2: duplicate image id 10");
  scratch_.write("test.txt", "10\n2\n");
  EXPECT_EQ(refusal(config), config.test_ids + ": image 2 is also in the validation split");
}

TEST_F(Captions, OfTheTestMayHaveAFileOfTheirOwn) {
  CaptionConfig config = ten();
  write("more.json", "more", {{21, "New words."}, {20, "Picture twenty."}}, {20, 21});
  config.test_path = scratch_.path("more.json");
  config.test_images = scratch_.path("more");
  const CaptionSet set = load_captions(config);
  EXPECT_THAT(ids_of(set, set.test), ElementsAre(20, 21));
  EXPECT_EQ(set.train.size() + set.validation.size(), 10U);
  EXPECT_EQ(set.pixels.select(0, set.test[0]).max().item<int>(), 200);
  EXPECT_EQ(set.vocabulary.number("new"), Vocabulary::kUnknown);
  EXPECT_EQ(load_captions(config, false).images.size(), 10U);
  write("more.json", "more", {{5, "One of the ten."}}, {5});
  EXPECT_EQ(refusal(config),
            fmt::format("{}: image 5 is also an image of {}", config.test_path, config.path));
  config.test_ids = config.test_path;
  EXPECT_EQ(refusal(config, ErrorKind::config),
            "data.test_path and data.test_ids both select the test images: give one");
}

TEST_F(Captions, OfMissingImagesAreRefusedOrLeftOut) {
  CaptionConfig config = ten();
  std::filesystem::remove(scratch_ / "ten/4.png");
  std::filesystem::remove(scratch_ / "ten/9.png");
  const std::string lost = fmt::format("{}: 2 images of 10 not in {}: 4.png (image 4), 9.png (image 9)",
                                       config.path, config.images);
  const CaptionSet set = load_captions(config);
  EXPECT_EQ(set.images.size(), 8U);
  EXPECT_THAT(set.notes, ElementsAre(lost + "; they are left out"));
  EXPECT_EQ(set.warnings, 1U);
  config.strict = true;
  EXPECT_EQ(refusal(config), lost + " (data.strict)");
  config.strict = false;
  std::filesystem::create_directories(scratch_ / "empty");
  config.images = scratch_.path("empty");
  EXPECT_EQ(refusal(config), fmt::format("{}: 10 images of 10 not in {}: 1.png (image 1), 2.png (image 2), "
                                         "3.png (image 3), …",
                                         config.path, config.images));
}

TEST_F(Captions, OfNamesThatNoFileCanHaveMissTheirImage) {
  CaptionConfig config = ten();
  const std::string name(300, 'x');
  config.path = scratch_.write(
      "long.json",
      fmt::format(R"({{"images": [{{"id": 1, "file_name": "1.png"}}, {{"id": 2, "file_name": "{}"}}],)"
                  R"("annotations": [{{"image_id": 1, "caption": "One."}},)"
                  R"({{"image_id": 2, "caption": "Two."}}]}})",
                  name));
  config.split_ratios = {1, 0, 0};
  config.strict = true;
  EXPECT_EQ(refusal(config), fmt::format("{}: 1 image of 2 not in {}: {} (image 2) (data.strict)",
                                         config.path, config.images, name));
}

TEST_F(Captions, OfPartOfAFolderCountTheOtherImages) {
  CaptionConfig config = ten();
  for (const char* name : {"x.png", "y.JPE", "more/z.png", "._1.png", "notes.txt"})
    scratch_.write(std::string("ten/") + name, "");
  const std::string others =
      fmt::format("3 images of {} not in {}: more/z.png, x.png, y.JPE", config.images, config.path);
  const CaptionSet set = load_captions(config);
  EXPECT_EQ(set.images.size(), 10U);
  EXPECT_THAT(set.notes, ElementsAre(others));
  EXPECT_EQ(set.warnings, 0U);
  config.strict = true;
  EXPECT_EQ(refusal(config), others + " (data.strict)");
}

TEST_F(Captions, FindImagesByTheirPathOrTheirUniqueName) {
  CaptionConfig config = ten();
  std::filesystem::create_directories(scratch_ / "ten/deep");
  std::filesystem::rename(scratch_ / "ten/2.png", scratch_ / "ten/deep/2.png");
  const auto named = [&](const std::string& file) {
    scratch_.write("named.json", fmt::format(R"({{"images": [{{"id": 1, "file_name": "{0}"}}],)"
                                             R"("annotations": [{{"image_id": 1, "caption": "A word."}}]}})",
                                             file));
    config.path = scratch_.path("named.json");
    config.split_ratios = {1, 0, 0};
    return load_captions(config).images.at(0).file;
  };
  for (const char* file : {"2.png", "deep/2.png", "deep\\\\2.png", "2", "C:\\\\photos\\\\deep\\\\2.jpg"})
    EXPECT_EQ(named(file), "deep/2.png") << file;
  std::filesystem::create_directories(scratch_ / "ten/other");
  std::filesystem::copy(scratch_ / "ten/deep/2.png", scratch_ / "ten/other/2.png");
  EXPECT_EQ(named("other/2"), "other/2.png");
  EXPECT_EQ(error_of(ErrorKind::data, [&] { named("2.png"); }),
            fmt::format(
                "{0}: '2.png' means 2 images of {1}, such as deep/2.png and other/2.png; name them by their "
                "path relative to it",
                config.path, config.images));
}

TEST_F(Captions, OfImagesThatAreNotListedAreLeftOutWithACount) {
  write("some.json", "some", {{9, "a"}, {1, "b"}, {8, "c"}}, {1});
  CaptionConfig config = config_of("some.json", "some");
  config.split_ratios = {1, 0, 0};
  const std::string lost =
      config.path +
      ": 2 captions of images that are not in \"images\", the first is annotations[0] of image 9";
  const CaptionSet set = load_captions(config);
  EXPECT_THAT(set.images.at(0).captions, ElementsAre("b"));
  EXPECT_THAT(set.notes, ElementsAre(lost + "; they are left out"));
  EXPECT_EQ(set.warnings, 1U);
  config.strict = true;
  EXPECT_EQ(refusal(config), lost + " (data.strict)");
}

TEST_F(Captions, HaveTheSplitsOfTheirFile) {
  CaptionConfig config = ten();
  std::string images;
  for (int i = 1; i <= 10; ++i)
    images += fmt::format(
        R"({}{{"filename": "{}.png", "imgid": {}, "split": "{}", "sentences": [{{"raw": "A {}"}}]}})",
        i > 1 ? ", " : "", i, 10 * i,
        i < 4   ? "test"
        : i < 6 ? "val"
        : i < 8 ? "restval"
                : "train",
        i);
  config.path = scratch_.write("dataset.json", R"({"images": [)" + images + R"(], "dataset": "flickr8k"})");
  const CaptionSet set = load_captions(config);
  EXPECT_THAT(ids_of(set, set.test), ElementsAre(10, 20, 30));
  EXPECT_THAT(ids_of(set, set.validation), ElementsAre(40, 50));
  EXPECT_THAT(ids_of(set, set.train), ElementsAre(60, 70, 80, 90, 100));
  EXPECT_THAT(set.notes, ElementsAre(config.path +
                                     ": the splits are those of the file: 5 training, 2 validation, 3 test"));
  config.test_ids = scratch_.write("test.txt", "10\n");
  EXPECT_EQ(
      refusal(config, ErrorKind::config),
      config.path +
          " gives the splits of its images: remove data.validation_ids, data.test_ids and data.test_path");
}

TEST_F(Captions, OfFilesWithoutIdsAreSplitByFileNames) {
  CaptionConfig config = ten();
  std::string lines;
  for (int i = 1; i <= 10; ++i) lines += fmt::format("{0}.png#0\tA {0}\n{0}.png#1\tOne {0}\n", i);
  config.path = scratch_.write("Flickr8k.token.txt", lines);
  config.test_ids = scratch_.write("test.txt", "3.png\n10.png\n");
  const CaptionSet set = load_captions(config);
  ASSERT_EQ(set.test.size(), 2U);
  EXPECT_EQ(set.images[static_cast<size_t>(set.test[0])].file, "3.png");
  EXPECT_THAT(set.images[static_cast<size_t>(set.test[1])].captions, ElementsAre("A 10", "One 10"));
  scratch_.write("test.txt", "3.png\n11.png\n");
  EXPECT_EQ(refusal(config), config.test_ids + ":2: image 11.png is not a captioned image of " + config.path);
  scratch_.write("test.txt", "3.png\n3.png\n");
  EXPECT_EQ(refusal(config), config.test_ids + ":2: duplicate image id 3.png");
  config.test_ids = "";
  config.features = scratch_.path("features.npz");
  EXPECT_EQ(refusal(config, ErrorKind::config),
            "data.features: features have the ids of images, which " + config.path + " does not give");
}

TEST_F(Captions, FindNamesInAnotherUnicodeNormalization) {
  CaptionConfig config = ten();
  std::filesystem::copy(scratch_ / "ten/2.png", scratch_ / "ten/cafe\u0301.png");
  config.path = scratch_.write("one.txt", "caf\u00e9.png#0\tA caf\u00e9\n");
  config.split_ratios = {1, 0, 0};
  EXPECT_EQ(load_captions(config).images.at(0).file, "cafe\u0301.png");
}

TEST_F(Captions, OfBrokenImagesAreLeftOutUpToALimit) {
  CaptionConfig config = ten();
  config.test_ids = scratch_.write("test.txt", "3\n");
  config.validation_ids = scratch_.write("validation.txt", "4\n5\n");
  const CaptionSet whole = load_captions(config);
  scratch_.write("ten/4.png", "GIF89a");
  const std::string first = config.images + "/4.png: expected a PNG or JPEG image; this is a GIF image";
  EXPECT_EQ(refusal(config),
            first + "; data.skip_broken = 1 (a number of files, or a fraction below 1) leaves it out");
  for (const double limit : {1.0, 0.1}) {
    config.skip_broken = limit;
    const CaptionSet set = load_captions(config);
    EXPECT_THAT(ids_of(set, set.validation), ElementsAre(5));
    EXPECT_EQ(ids_of(set, set.train), ids_of(whole, whole.train));
    EXPECT_EQ(ids_of(set, set.test), ids_of(whole, whole.test));
    EXPECT_EQ(set.pixels.select(0, set.test[0]).max().item<int>(), 30);
    EXPECT_THAT(set.notes,
                ElementsAre("1 of 10 files cannot be read and is left out; the first is " + first));
    EXPECT_EQ(set.warnings, 1U);
  }
  scratch_.write("ten/7.png", "");
  config.skip_broken = 1;
  EXPECT_EQ(refusal(config), first + "; more than 1 of 10 files are broken (data.skip_broken)");
}

TEST_F(Captions, StayInTheirFolder) {
  CaptionConfig config = ten();
  std::filesystem::create_directories(scratch_ / "ten/inner");
  std::filesystem::copy(scratch_ / "ten/1.png", scratch_ / "secret.png");
  std::filesystem::copy(scratch_ / "ten/1.png", scratch_ / "ten/inner/a..b.png");
  std::filesystem::create_symlink(scratch_ / "secret.png", scratch_ / "ten/link.png");
  const std::string absolute = scratch_.path("ten/1.png");
  const auto named = [&](const std::string& file) {
    scratch_.write("named.json", fmt::format(R"({{"images": [{{"id": 1, "file_name": "{0}"}}],)"
                                             R"("annotations": [{{"image_id": 1, "caption": "A word."}}]}})",
                                             file));
    CaptionConfig one = config;
    one.path = scratch_.path("named.json");
    one.split_ratios = {1, 0, 0};
    return one;
  };
  for (const std::string& file : {std::string("../secret.png"), std::string("inner/../1.png"),
                                  std::string(".."), absolute, std::string("/dev/zero")}) {
    CaptionConfig one = named(file);
    EXPECT_EQ(refusal(one),
              fmt::format("{}: image 1 has the file_name '{}', which leads out of the folder {}; "
                          "data.allow_outside = true (--allow-outside) allows it",
                          one.path, file, one.images));
  }
  CaptionConfig outside = named("../secret.png");
  outside.allow_outside = true;
  EXPECT_EQ(load_captions(outside).images.size(), 1U);
  for (const char* file : {"inner/a..b.png", "./1.png", "link.png"})
    EXPECT_EQ(load_captions(named(file)).images.size(), 1U) << file;
}

TEST_F(Captions, RefuseWhatIsNotThereInASentence) {
  CaptionConfig config = ten();
  config.images = scratch_.path("nowhere");
  EXPECT_EQ(refusal(config, ErrorKind::no_input), "there is no folder " + config.images);
  config.images = "";
  EXPECT_EQ(refusal(config, ErrorKind::config),
            fmt::format("data.images: expected the folder of the images of {}, got none", config.path));
  EXPECT_EQ(refusal(CaptionConfig(), ErrorKind::config), "data.path: expected a file of captions, got none");
  config = ten();
  config.split_ratios = {0.9, 0.2, 0};
  EXPECT_EQ(
      refusal(config, ErrorKind::config),
      "data.split_ratios: expected three fractions (training, validation, test) that sum to at most 1, got "
      "[0.9, 0.2, 0]");
  config = ten();
  config.min_count = 11;
  EXPECT_EQ(refusal(config, ErrorKind::config),
            "data.min_count: no word occurs 11 times in the training captions of " + config.path);
  write("none.json", "ten", {{1, "..."}}, {1});
  config = config_of("none.json", "ten");
  EXPECT_EQ(refusal(config), config.path + ": there is no image with a caption");
}

TEST_F(Captions, HaveFeaturesInPlaceOfPixels) {
  CaptionConfig config = ten();
  config.images = "";
  config.features = scratch_.path("features.npz");
  std::map<std::string, io::Array> arrays;
  std::vector<int64_t> ids = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 99};
  std::vector<float> values(11 * 6);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  arrays["ids"] = io::make_array({11}, std::span<const int64_t>(ids));
  arrays["features"] = io::make_array({11, 1, 2, 3}, std::span<const float>(values));
  io::write_npz(config.features, arrays);
  const CaptionSet set = load_captions(config);
  EXPECT_FALSE(set.pixels.defined());
  const std::vector<int64_t> second = {1};  // of image 2, the ninth row
  EXPECT_EQ(gather_images(set, second)[0][0][1][2].item<float>(), 8 * 6 + 5);

  ids[3] = 70;
  arrays["ids"] = io::make_array({11}, std::span<const int64_t>(ids));
  io::write_npz(config.features, arrays);
  EXPECT_EQ(refusal(config), fmt::format("{}: no features for image 7, which has captions in {}",
                                         config.features, config.path));
  ids[3] = 8;
  arrays["ids"] = io::make_array({11}, std::span<const int64_t>(ids));
  io::write_npz(config.features, arrays);
  EXPECT_EQ(refusal(config), config.features + ": duplicate id 8 in ids");
  arrays["features"] = io::make_array({11, 6}, std::span<const float>(values));
  io::write_npz(config.features, arrays);
  EXPECT_EQ(refusal(config), config.features +
                                 ": features: expected [11, height, width, features] of float32, "
                                 "got float32 [11, 6]");
  arrays.erase("features");
  io::write_npz(config.features, arrays);
  EXPECT_EQ(refusal(config), config.features +
                                 ": expected the arrays ids [n] and features [n, height, width, "
                                 "features]; features is missing");
}

TEST_F(Captions, HaveAHashOfWhatTheyHold) {
  CaptionConfig config = ten();
  const std::string whole = hash_of(load_captions(config));
  EXPECT_EQ(hash_of(load_captions(config)), whole);
  config.split_seed = 2;
  EXPECT_NE(hash_of(load_captions(config)), whole);
  config = ten("Picture {} there.");
  EXPECT_NE(hash_of(load_captions(config)), whole);
}

}  // namespace
}  // namespace modewise::data
