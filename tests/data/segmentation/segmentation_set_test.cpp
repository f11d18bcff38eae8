// Segmentation set: listing, splits, checks, reading and augmentation.

#include "modewise/data/segmentation/segmentation_set.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/data/segmentation/scene_files.h"

namespace modewise::data {
namespace {

using testing::HasSubstr;

TEST(Scenes, TrainOnWindowsOfTheTrainingBlocksAlone) {
  const ScratchFolder folder;
  write_image(folder, "image.npy", 96, 80, 2);
  write_mask(folder, "mask.npy", 96, 80,
             [](int64_t row, int64_t column) { return (row / 7 + column / 5) % 3; });
  SegmentationDataConfig config = plain(folder.path("image.npy"), folder.path("mask.npy"));
  config.window = 16;
  config.blocks = {4, 4};
  config.guard = 2;
  const SegmentationSet set(config, 4);
  EXPECT_EQ(set.classes().size(), 3);
  EXPECT_EQ(set.bands(), 2);
  EXPECT_FALSE(set.missing());
  std::set<int64_t> trained;
  for (size_t i = 0; i < set.training_tiles().size(); ++i)
    for (uint64_t batch = 0; batch < 5; ++batch) {
      SegmentationAugmentConfig augment;
      augment.crop = batch % 2 == 0 ? 1 : 0.6;
      const SceneWindow window = augmented(set.read(set.training_tiles()[i]), augment, 16,
                                           {7, RandomSite::augmentation, batch}, static_cast<uint64_t>(i));
      if (augment.crop < 1) continue;  // between pixels
      for (size_t pixel = 0; pixel < window.valid.size(); ++pixel) {
        ASSERT_EQ(window.valid[pixel], 1);
        const auto place = static_cast<int64_t>(window.image[2 * pixel]);
        const int64_t row = place / 1000, column = place % 1000;
        EXPECT_EQ(window.labels[pixel], (row / 7 + column / 5) % 3);
        trained.insert(row * 80 + column);
      }
    }
  for (const SceneSplit split : {SceneSplit::validation, SceneSplit::test})
    for (const SceneArea& area : set.areas(split))
      for (int64_t row = area.area.row - 2; row < area.area.row + area.area.height + 2; ++row)
        for (int64_t column = area.area.column - 2; column < area.area.column + area.area.width + 2; ++column)
          EXPECT_FALSE(row >= 0 && column >= 0 && column < 80 && trained.contains(row * 80 + column));
  EXPECT_GT(trained.size(), 96u * 80u / 3);
}

TEST(Scenes, VaryTheSameWindowAlikeUnderTheSameKey) {
  SceneWindow tile(1, 9, 9, 1, true);
  for (size_t i = 0; i < 81; ++i) {
    tile.image[i] = static_cast<float>(i);
    tile.valid[i] = 1;
    tile.labels[i] = static_cast<int16_t>(i % 5);
  }
  const SegmentationAugmentConfig config;
  const SceneWindow one = augmented(tile, config, 5, {3, RandomSite::augmentation, 9}, 2),
                    again = augmented(tile, config, 5, {3, RandomSite::augmentation, 9}, 2);
  EXPECT_EQ(one.image, again.image);
  std::set<std::vector<float>> all;
  for (uint64_t place = 0; place < 200; ++place)
    all.insert(augmented(tile, config, 5, {3, RandomSite::augmentation, 9}, place).image);
  EXPECT_GT(all.size(), 120u);  // of 25 positions × 8 symmetries
  for (const auto& image : all) EXPECT_EQ(std::set<float>(image.begin(), image.end()).size(), 25u);
}

TEST(Scenes, PutATileThatIsTooSmallIntoTheWindow) {
  SceneWindow tile(2, 3, 4, 1, true);
  std::fill(tile.image.begin(), tile.image.end(), 5.0F);
  std::fill(tile.valid.begin(), tile.valid.end(), uint8_t{1});
  std::fill(tile.labels.begin(), tile.labels.end(), int16_t{1});
  const SceneWindow window = augmented(tile, {}, 8, {1, RandomSite::augmentation, 0}, 0);
  EXPECT_EQ(std::count(window.valid.begin(), window.valid.end(), 1), 24);
  EXPECT_EQ(std::count(window.labels.begin(), window.labels.end(), 1), 12);
  EXPECT_EQ(std::count(window.labels.begin(), window.labels.end(), ClassMap::ignored), 52);
}

TEST(Scenes, LeaveOutPixelsWithoutData) {
  const ScratchFolder folder;
  std::vector<float> values(8 * 8 * 2, 1);
  values[2 * 9] = std::nanf("");
  values[2 * 20 + 1] = -9999;
  folder.write("image.npy", io::format_npy(io::make_array({8, 8, 2}, std::span<const float>(values))));
  const auto raster = open_raster(folder.path("image.npy"), "auto");
  PixelRule rule{{0, 1}, "-9999", {{0, 0}, {1, 1}}};
  const SceneWindow window = read_window(*raster, {-1, 0, 9, 8}, rule);
  EXPECT_EQ(std::count(window.valid.begin(), window.valid.end(), 0), 8 + 2);
  EXPECT_EQ(window.valid[8 + 9], 0);
  EXPECT_EQ(window.image[2 * (8 + 9)], 0);
  EXPECT_EQ(window.image[2 * (8 + 20)], 0);
  rule.bands = {0};  // the other band is not used
  rule.scale = {{0}, {1}};
  const SceneWindow first = read_window(*raster, {0, 0, 8, 8}, rule);
  EXPECT_EQ(std::count(first.valid.begin(), first.valid.end(), 0), 1);
}

TEST(Scenes, ScaleByTheTrainingSplitAlone) {
  const ScratchFolder folder;
  write_image(folder, "image.npy", 64, 64, 3);
  write_mask(folder, "mask.npy", 64, 64, [](int64_t row, int64_t) { return row % 2; });
  SegmentationDataConfig config = plain(folder.path("image.npy"), folder.path("mask.npy"));
  config.scale = "standard";
  config.window = 16;
  const SegmentationSet set(config, 1);
  double sum = 0, square = 0, count = 0;
  for (const SceneArea& area : set.areas(SceneSplit::train)) {
    const SceneWindow window = set.read_image(area);
    for (size_t pixel = 0; pixel < window.valid.size(); ++pixel) {
      sum += window.image[3 * pixel + 1];
      square += window.image[3 * pixel + 1] * window.image[3 * pixel + 1];
      count += 1;
    }
  }
  EXPECT_NEAR(sum / count, 0, 1e-4);
  EXPECT_NEAR(square / count, 1, 1e-4);
}

TEST(Scenes, MatchTilesWithMasksByNameAndSplitThem) {
  const ScratchFolder folder;
  for (int i = 0; i < 20; ++i) {
    write_image(folder, fmt::format("all/tile{}_S2.npy", i), 8, 8, 1);
    write_mask(folder, fmt::format("all/tile{}_Label.npy", i), 8, 8,
               [&](int64_t r, int64_t) { return r % 2 - (i == 3); });
  }
  SegmentationDataConfig config = plain(folder.path("all"), folder.path("all"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { SegmentationSet(config, 4); }),
              HasSubstr("set data.image_suffix and data.mask_suffix"));
  config.image_suffix = "_S2";
  config.mask_suffix = "_Label";
  const SegmentationSet set(config, 4);
  EXPECT_EQ(set.areas(SceneSplit::train).size(), 14u);
  EXPECT_EQ(set.areas(SceneSplit::validation).size(), 3u);
  EXPECT_EQ(set.areas(SceneSplit::test).size(), 3u);
  EXPECT_EQ(set.window(), 8);
  EXPECT_EQ(set.classes().ignored_ids(), (std::vector<int64_t>{-1}));
  EXPECT_EQ(set.training_tiles().size(), 14u);
  config.mask_suffix = "_Truth";
  EXPECT_THAT(error_of(ErrorKind::data, [&] { SegmentationSet(config, 4); }), HasSubstr("no mask: expected"));
}

TEST(Scenes, TakeTheSplitOfFolders) {
  const ScratchFolder folder;
  for (const std::string part : {"train", "val", "test"})
    for (int i = 0; i < 2; ++i) {
      write_image(folder, fmt::format("images/{}/{}.npy", part, i), 8, 8, 1);
      write_mask(folder, fmt::format("masks/{}/{}.npy", part, i), 8, 8,
                 [](int64_t r, int64_t) { return r % 2; });
    }
  const SegmentationSet set(plain(folder.path("images"), folder.path("masks")), 4);
  EXPECT_THAT(set.split_rule(), HasSubstr("folders"));
  for (const SceneSplit split : {SceneSplit::train, SceneSplit::validation, SceneSplit::test})
    for (const SceneArea& area : set.areas(split))
      EXPECT_EQ(set.files()[static_cast<size_t>(area.file)].name.substr(0, 2),
                split == SceneSplit::train        ? "tr"
                : split == SceneSplit::validation ? "va"
                                                  : "te");
}

TEST(Scenes, TakeTheLegendsOfTheBenchmarkByName) {
  const ScratchFolder folder;
  write_image(folder, "image.npy", 64, 64, 1);
  const std::vector<std::pair<std::string, ClassMap>> legends = {{"nlcd", nlcd_classes()},
                                                                 {"cdl", cdl_classes()}};
  for (const auto& [name, legend] : legends) {
    // The first two classes and ignored pixels; the others have no pixel.
    const std::vector<int64_t> ids = {legend.classes()[0].id, legend.classes()[1].id, 0};
    write_mask(folder, "mask.npy", 64, 64,
               [&](int64_t row, int64_t) { return ids[static_cast<size_t>(row % 3)]; });
    SegmentationDataConfig config = plain(folder.path("image.npy"), folder.path("mask.npy"));
    config.classes = name;
    config.window = 16;
    EXPECT_EQ(SegmentationSet(config, 1).classes(), legend) << name;
    config.ignore = {255};
    EXPECT_THAT(error_of(ErrorKind::config, [&] { SegmentationSet(config, 1); }),
                HasSubstr("data.ignore must be empty"));
  }
}

TEST(Scenes, SayWhatIsWrongWithAPair) {
  const ScratchFolder folder;
  const auto even = [](int64_t row, int64_t) { return row % 2; };
  write_image(folder, "image.npy", 32, 32, 2);
  write_mask(folder, "small.npy", 32, 31, even);
  EXPECT_THAT(
      error_of(ErrorKind::data,
               [&] { SegmentationSet(plain(folder.path("image.npy"), folder.path("small.npy")), 4); }),
      HasSubstr("the mask has 32 × 31 pixels, but its image"));
  write_mask(folder, "mask.npy", 32, 32,
             [](int64_t row, int64_t column) { return row == 9 && column == 4 ? 7 : 1 + column % 2; });
  SegmentationDataConfig config = plain(folder.path("image.npy"), folder.path("mask.npy"));
  config.classes = "list";
  config.class_ids = {1, 2};
  EXPECT_THAT(
      error_of(ErrorKind::data, [&] { SegmentationSet(config, 4); }),
      HasSubstr("mask.npy: row 9, column 4: class id 7 is not in the class map 'list' (-1, 1, 2, 255)"));
  config.ignore_unlisted = true;
  EXPECT_NO_THROW(SegmentationSet(config, 4));
  config.bands = {2};
  EXPECT_THAT(error_of(ErrorKind::data, [&] { SegmentationSet(config, 4); }),
              HasSubstr("data.bands contains 2, but the image has bands 0 to 1"));

  for (const std::string name : {"a", "b", "c", "d"}) {
    write_image(folder, "images/" + name + ".npy", 8, 8, name == "c" ? 3 : 2);
    write_mask(folder, "masks/" + name + ".npy", 8, 8, even);
  }
  EXPECT_THAT(error_of(ErrorKind::data,
                       [&] { SegmentationSet(plain(folder.path("images"), folder.path("masks")), 4); }),
              HasSubstr("all images must have the same dates and bands"));
  EXPECT_THAT(error_of(ErrorKind::no_input,
                       [&] { SegmentationSet(plain(folder.path("none.npy"), folder.path("mask.npy")), 4); }),
              HasSubstr("none.npy does not exist"));
  EXPECT_THAT(error_of(ErrorKind::data,
                       [&] { SegmentationSet(plain(folder.path("image.npy"), folder.path("masks")), 4); }),
              HasSubstr("is a folder, but the image"));
  EXPECT_THAT(
      error_of(ErrorKind::data,
               [&] { SegmentationSet(plain(folder.path("image.npy"), folder.path("image.npy")), 4); }),
      HasSubstr("image.npy: a mask must have one band of class ids, got 2 bands"));
  write_image(folder, "float_mask.npy", 32, 32, 1);
  EXPECT_THAT(
      error_of(ErrorKind::data,
               [&] { SegmentationSet(plain(folder.path("image.npy"), folder.path("float_mask.npy")), 4); }),
      HasSubstr("more than 300 different values"));
  folder.write("broken.tif", "II*");
  EXPECT_THAT(
      error_of(ErrorKind::data,
               [&] { SegmentationSet(plain(folder.path("broken.tif"), folder.path("mask.npy")), 4); }),
      HasSubstr("broken.tif"));
}

TEST(Scenes, ComeBackFromTheirSummary) {
  const ScratchFolder folder;
  write_image(folder, "image.npy", 64, 48, 2);
  write_mask(folder, "mask.npy", 64, 48, [](int64_t row, int64_t) { return row % 3; });
  const SegmentationDataConfig config = plain(folder.path("image.npy"), folder.path("mask.npy"));
  const SegmentationSet set(config, 4);
  folder.write("data.json", to_json(set.summary()).dump());
  const SceneSummary summary = read_scene_summary(folder.path("data.json"));
  const SegmentationSet again(config, summary, false), whole(config, summary, true);
  EXPECT_EQ(again.hash(), set.hash());
  EXPECT_EQ(again.classes(), set.classes());
  EXPECT_EQ(again.areas(SceneSplit::test).size(), set.areas(SceneSplit::test).size());
  EXPECT_EQ(whole.areas(SceneSplit::test).front().area, (PixelRect{0, 0, 64, 48}));
  folder.write("bad.json", "{\"classes\": 3}");
  EXPECT_THAT(error_of(ErrorKind::data, [&] { read_scene_summary(folder.path("bad.json")); }),
              HasSubstr("bad.json: not a segmentation run's data.json"));
  for (const auto& [band, sentence] : {std::pair(-1, "band -1 of 2"), {2, "band 2 of 2"}}) {
    auto changed = to_json(set.summary());
    changed["bands"][0] = band;
    folder.write("bad.json", changed.dump());
    EXPECT_THAT(error_of(ErrorKind::data, [&] { read_scene_summary(folder.path("bad.json")); }),
                HasSubstr(sentence));
  }
  RasterInfo other = {};
  other.bands = 3;
  other.source = "other.tif";
  EXPECT_THAT(error_of(ErrorKind::data, [&] { require_fits(summary, other); }),
              HasSubstr("other.tif: 1 dates of 3 bands, but the run was trained on 1 of 2"));
}

TEST(RealScenes, Sentinel2PatchIsAStackOfDates) {
  const std::string path = real_data("multispectral/sentinel2_eopatch/REFERENCE_SCENES.npy");
  SKIP_WITHOUT(path, "multispectral/sentinel2_eopatch");
  SegmentationDataConfig config = plain(path, real_data("multispectral/sentinel2_eopatch/LULC.npy"));
  config.ignore = {0};
  const SegmentationSet set(config, 4);
  EXPECT_EQ(set.times(), 5);
  EXPECT_EQ(set.bands(), 13);
  EXPECT_EQ(set.classes().size(), 5);
  int64_t labelled = 0;
  config.guard = 0;
  const SegmentationSet unguarded(config, 4);
  for (const SceneSplit split : {SceneSplit::train, SceneSplit::validation, SceneSplit::test})
    for (const int64_t pixels : unguarded.class_pixels(split)) labelled += pixels;
  EXPECT_EQ(labelled, 101 * 100 - 155);
}

TEST(RealScenes, FloodChipIsGeoTiffWithIgnoredPixels) {
  const std::string path = real_data("multispectral/sen1floods11/Spain_7370579_S2Hand.tif");
  SKIP_WITHOUT(path, "multispectral/sen1floods11");
  SegmentationDataConfig config =
      plain(path, real_data("multispectral/sen1floods11/Spain_7370579_LabelHand.tif"));
  config.guard = 0;
  const SegmentationSet set(config, 4);
  EXPECT_EQ(set.bands(), 13);
  EXPECT_EQ(set.classes().size(), 2);
  EXPECT_EQ(set.classes().ignored_ids(), (std::vector<int64_t>{-1}));
  int64_t dry = 0, water = 0;
  for (const SceneSplit split : {SceneSplit::train, SceneSplit::validation, SceneSplit::test}) {
    dry += set.class_pixels(split)[0];
    water += set.class_pixels(split)[1];
  }
  EXPECT_EQ(dry, 192010);
  EXPECT_EQ(water, 70035);
  EXPECT_EQ(set.geo(0)->crs_text(), "EPSG:4326");
}

}  // namespace
}  // namespace modewise::data
