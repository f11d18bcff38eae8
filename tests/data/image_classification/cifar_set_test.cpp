// Images from CIFAR-10's binary batches.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/data/image_classification/image_sets.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(Images, OfCifarKeepTheirPartsAndOrder) {
  scratch_.write("data_batch_1.bin", cifar_record(3, 10) + cifar_record(9, 20));
  scratch_.write("data_batch_3.bin", cifar_record(3, 30));
  scratch_.write("test_batch.bin", cifar_record(0, 40) + cifar_record(1, 50));
  ImageConfig config = config_of(root());
  config.validation_share = 0;
  const ImageSet set = load_images(config);
  EXPECT_THAT(set.pixels.sizes().vec(), ElementsAre(5, 32, 32, 3));
  EXPECT_EQ(set.pixels.scalar_type(), at::kByte);
  EXPECT_THAT(set.train, ElementsAre(0, 1, 2));
  EXPECT_THAT(set.validation, ElementsAre());
  EXPECT_THAT(set.test, ElementsAre(3, 4));
  EXPECT_THAT(set.labels, ElementsAre(3, 9, 3, 0, 1));
  EXPECT_THAT(set.names, ElementsAre("data_batch_1 0", "data_batch_1 1", "data_batch_3 0", "test_batch 0",
                                     "test_batch 1"));
  EXPECT_EQ(set.classes.size(), 10U);
  EXPECT_EQ(set.classes[3], "cat");
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t c = 0; c < 3; ++c) EXPECT_EQ(set.pixels[i][7][31][c].item<int>(), 10 + 10 * i + c);
  // Batches 2, 4 and 5 are missing, and the counts are not the published ones.
  EXPECT_EQ(set.warnings, 4U);
  EXPECT_THAT(set.notes[0], HasSubstr("there is no data_batch_2.bin"));
  EXPECT_THAT(set.notes[3], HasSubstr("3 training and 2 test images, but CIFAR-10 has 50000"));
}

TEST_F(Images, OfCifarAreMeasuredOverTheTrainingSplit) {
  scratch_.write("data_batch_1.bin", cifar_record(0, 10) + cifar_record(1, 20) + cifar_record(1, 60));
  scratch_.write("test_batch.bin", cifar_record(0, 200));
  ImageConfig config = config_of(root());
  config.validation_share = 0;
  const ImageSet set = load_images(config);
  // 10, 20, 60: mean 30, variance (400 + 100 + 900) / 3.
  for (int64_t c = 0; c < 3; ++c) {
    EXPECT_FLOAT_EQ(set.mean[c].item<float>(), static_cast<float>(30 + c) / 255);
    EXPECT_FLOAT_EQ(set.stddev[c].item<float>(), static_cast<float>(std::sqrt(1400.0 / 3) / 255));
  }
  const std::vector<int64_t> samples = {3, 1};
  const LabelledBatch batch = gather_images(set, samples);
  EXPECT_THAT(batch.values.sizes().vec(), ElementsAre(2, 32, 32, 3));
  EXPECT_NEAR(batch.values[0][5][6][2].item<double>(), 170 / std::sqrt(1400.0 / 3), 1e-5);
  EXPECT_NEAR(batch.values[1][5][6][0].item<double>(), -10 / std::sqrt(1400.0 / 3), 1e-5);
  EXPECT_NEAR(black_pixel(set)[1].item<double>(), -31 / std::sqrt(1400.0 / 3), 1e-5);
  EXPECT_EQ(batch.labels[1].item<int64_t>(), 1);
  EXPECT_EQ(unit_images(set, samples)[1][0][0][2].item<float>(), 22.0F / 255.0F);
  config.normalize = "unit";
  EXPECT_EQ(gather_images(load_images(config), samples).values[1][0][0][2].item<float>(), 22.0F / 255.0F);
}

TEST_F(Images, OfCifarGiveSomeOfEachClassToValidation) {
  std::string records;
  for (int i = 0; i < 60; ++i) records += cifar_record(i < 40 ? 2 : 7, i);
  scratch_.write("data_batch_1.bin", records);
  scratch_.write("test_batch.bin", cifar_record(0, 1));
  ImageConfig config = config_of(root());
  config.validation_share = 0.25;
  const ImageSet set = load_images(config), again = load_images(config);
  EXPECT_THAT(set.class_counts(set.validation), ElementsAre(0, 0, 10, 0, 0, 0, 0, 5, 0, 0));
  EXPECT_THAT(set.class_counts(set.train), ElementsAre(0, 0, 30, 0, 0, 0, 0, 15, 0, 0));
  std::vector<int64_t> all = set.train;
  all.insert(all.end(), set.validation.begin(), set.validation.end());
  std::sort(all.begin(), all.end());
  for (int64_t i = 0; i < 60; ++i) EXPECT_EQ(all[static_cast<size_t>(i)], i);
  EXPECT_EQ(set.validation, again.validation);
  EXPECT_EQ(hash_of(set), hash_of(again));
  EXPECT_EQ(set.notes.back(), "15 of 60 training images moved to validation, by class with seed 1");
  config.split_seed = 2;
  EXPECT_NE(load_images(config).validation, set.validation);
  EXPECT_NE(hash_of(load_images(config)), hash_of(set));
}

TEST_F(Images, OfCifarNameTheFileAndRecordThatIsWrong) {
  const std::string good = cifar_record(1, 5);
  scratch_.write("test_batch.bin", good);
  scratch_.write("data_batch_1.bin", good + good.substr(0, 3000));
  const std::string path = scratch_.path("data_batch_1.bin");
  EXPECT_THAT(
      refusal(config_of(root())),
      testing::AllOf(testing::StartsWith(path), HasSubstr("record 1 has 3000, so the file is truncated")));
  scratch_.write("data_batch_1.bin", good + cifar_record(10, 5));
  EXPECT_THAT(refusal(config_of(root())),
              testing::AllOf(testing::StartsWith(path), HasSubstr("record 1 (byte 3073) has label 10")));
  scratch_.write("data_batch_1.bin", good);
  scratch_.write("batches.meta.txt", "one\r\ntwo\r\n\r\n");
  EXPECT_THAT(refusal(config_of(root())), HasSubstr("batches.meta.txt: expected the names of 10 classes"));
  scratch_.write("batches.meta.txt", "a\r\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  EXPECT_THAT(load_images(config_of(root())).classes,
              ElementsAre("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"));
}

TEST_F(Images, OfCifarWithoutTestReadNoTestFile) {
  scratch_.write("data_batch_1.bin", cifar_record(1, 5) + cifar_record(2, 6));
  scratch_.write("test_batch.bin", "broken");
  const ImageSet set = load_images(config_of(root()), false);
  EXPECT_EQ(set.count(), 2);
  EXPECT_TRUE(set.test.empty());
  EXPECT_THAT(refusal(config_of(root())), HasSubstr("test_batch.bin: 6 bytes are not a multiple"));
  std::filesystem::remove(scratch_ / "test_batch.bin");
  EXPECT_THAT(refusal(config_of(root()), ErrorKind::no_input), HasSubstr("test_batch.bin"));
}

TEST_F(Images, OfCifarBecomeGreyAndSmaller) {
  scratch_.write("data_batch_1.bin", cifar_record(1, 50));
  scratch_.write("test_batch.bin", cifar_record(1, 50));
  ImageConfig config = config_of(root());
  config.size = {7, 5};
  config.channels = "grey";
  const ImageSet set = load_images(config);
  EXPECT_THAT(set.pixels.sizes().vec(), ElementsAre(2, 7, 5, 1));
  // 0.299 · 50 + 0.587 · 51 + 0.114 · 52 = 50.815
  EXPECT_TRUE(set.pixels.eq(51).all().item<bool>());
}

TEST(RealImages, OfCifarAreAllThere) {
  const std::string path = real_data("cifar-10-batches-bin");
  SKIP_WITHOUT(path, "cifar-10-batches-bin");
  ImageConfig config;
  config.path = path;
  const ImageSet set = load_images(config);
  EXPECT_EQ(set.count(), 25000);
  EXPECT_EQ(set.train.size(), 18000U);
  EXPECT_EQ(set.validation.size(), 2000U);
  EXPECT_EQ(set.test.size(), 5000U);
  EXPECT_EQ(set.warnings, 1U);
  EXPECT_THAT(set.notes[0], HasSubstr("20000 training and 5000 test images"));
  // Published statistics: means .491, .482, .447, standard deviations .247, .243, .262.
  const std::vector<double> mean = {0.491, 0.482, 0.447}, stddev = {0.247, 0.243, 0.262};
  for (int64_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(set.mean[c].item<double>(), mean[static_cast<size_t>(c)], 0.005);
    EXPECT_NEAR(set.stddev[c].item<double>(), stddev[static_cast<size_t>(c)], 0.005);
  }
}

}  // namespace
}  // namespace modewise::data
