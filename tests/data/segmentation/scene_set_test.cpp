// Automatic choices of a segmentation set: windows, tiles, classes, scale.

#include "modewise/data/segmentation/segmentation_set.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "modewise/io/images/tiff.h"
#include "tests/data/segmentation/scene_files.h"

namespace modewise::data {
namespace {

using testing::HasSubstr;

TEST(Scenes, ChooseTheirWindow) {
  const ScratchFolder folder;
  const auto window = [&](int64_t side, bool scene, int64_t multiple, int64_t asked = 0) {
    const std::string image = scene ? "image.npy" : "images/a.npy", mask = scene ? "mask.npy" : "masks/a.npy";
    write_image(folder, image, side, side + 5, 1);
    write_mask(folder, mask, side, side + 5, [](int64_t r, int64_t) { return r % 2; });
    SegmentationDataConfig config =
        plain(folder.path(scene ? image : "images"), folder.path(scene ? mask : "masks"));
    config.validation = config.test = scene ? 0.2 : 0;
    config.guard = 0;
    config.window = asked;
    return SegmentationSet(config, multiple).window();
  };
  EXPECT_EQ(window(70, false, 1), 64);
  EXPECT_EQ(window(50, false, 1), 50);
  EXPECT_EQ(window(50, false, 16), 48);
  EXPECT_EQ(window(10, false, 16), 16);
  EXPECT_EQ(window(90, true, 1), 30);
  EXPECT_EQ(window(210, true, 8), 64);
  EXPECT_EQ(window(50, false, 4, 20), 20);
  EXPECT_EQ(error_of(ErrorKind::config, [&] { window(50, false, 8, 20); }),
            "data.window = 20 must be a multiple of 8 (the model's patch or downsampling)");
}

TEST(Scenes, CutTrainingTilesEvenly) {
  const ScratchFolder folder;
  write_image(folder, "images/a.npy", 30, 50, 1);
  write_mask(folder, "masks/a.npy", 30, 50, [](int64_t r, int64_t) { return r % 2; });
  SegmentationDataConfig config = plain(folder.path("images"), folder.path("masks"));
  config.validation = config.test = 0;
  config.window = 16;
  const auto tiles = [&] {
    std::vector<PixelRect> out;
    const SegmentationSet set(config, 1);
    for (const SceneArea& tile : set.training_tiles()) out.push_back(tile.area);
    return out;
  };
  // Tiles of window + stride = 24: 30 rows have (30 − 16 + 7) / 8 + 1 of them, 50 columns 6.
  const std::vector<PixelRect> cut = tiles();
  ASSERT_EQ(cut.size(), 18U);
  EXPECT_EQ(cut[0], (PixelRect{0, 0, 24, 24}));
  EXPECT_EQ(cut[1], (PixelRect{0, 5, 24, 24}));
  EXPECT_EQ(cut[6], (PixelRect{3, 0, 24, 24}));
  EXPECT_EQ(cut[17], (PixelRect{6, 26, 24, 24}));
  config.stride = 33;  // tiles of 49: 3 across, and two for the 30 rows
  EXPECT_EQ(tiles().size(), 6U);
  EXPECT_EQ(tiles().back(), (PixelRect{0, 1, 30, 49}));
  config.stride = 34;  // hardly larger than a window: one tile
  EXPECT_EQ(tiles(), (std::vector<PixelRect>{{0, 0, 30, 50}}));
  EXPECT_FALSE(SegmentationSet(config, 1).missing());
  config.window = 31;
  const SegmentationSet small(config, 1);
  EXPECT_TRUE(small.missing());
  EXPECT_THAT(small.notes(),
              testing::Contains("some training areas are smaller than the window of 31 pixels: "
                                "the rest of the window is missing"));
}

TEST(Scenes, EvaluateTheCentreOfTilesAlone) {
  Tiles tiles({"train/a", "val/b", "test/c"});
  tiles.config.centre = 5;
  const SegmentationSet set(tiles.config, 1);
  EXPECT_EQ(set.areas(SceneSplit::train)[0].area, (PixelRect{0, 0, 8, 8}));
  EXPECT_EQ(set.areas(SceneSplit::validation)[0].area, (PixelRect{1, 1, 5, 5}));
  EXPECT_EQ(set.areas(SceneSplit::test)[0].area, (PixelRect{1, 1, 5, 5}));
  EXPECT_EQ(set.class_pixels(SceneSplit::test), (std::vector<int64_t>{10, 15}));
  tiles.config.centre = 9;
  EXPECT_EQ(SegmentationSet(tiles.config, 1).areas(SceneSplit::test)[0].area, (PixelRect{0, 0, 8, 8}));
  const SegmentationSet without(tiles.config, 1, false);
  EXPECT_EQ(without.files().size(), 2U);
  EXPECT_TRUE(without.areas(SceneSplit::test).empty());
  tiles.config.split = "random";
  tiles.config.validation = tiles.config.test = 0;
  EXPECT_EQ(SegmentationSet(tiles.config, 1).training_tiles().size(), 3U);
}

TEST(Scenes, FindTheClassesOfTheirMasks) {
  const ScratchFolder folder;
  write_image(folder, "image.npy", 30, 30, 1);
  const auto set = [&](const std::function<int64_t(int64_t, int64_t)>& id, std::vector<int64_t> ignore = {}) {
    write_mask(folder, "mask.npy", 30, 30, id);
    SegmentationDataConfig config = plain(folder.path("image.npy"), folder.path("mask.npy"));
    config.ignore = std::move(ignore);
    config.guard = 0;
    return SegmentationSet(config, 1);
  };
  const auto five = [](int64_t row, int64_t) {
    return std::array<int64_t, 5>{7, -1, 255, 3, 0}[static_cast<size_t>(row % 5)];
  };
  EXPECT_THAT(set(five).notes(), testing::Contains("classes found in the masks: 0, 3, 7; ignored: -1, 255"));
  EXPECT_THAT(set(five, {7, 3, 7, 9}).notes(),
              testing::Contains("classes found in the masks: -1, 0, 255; ignored: 3, 7"));
  const auto two = [](int64_t row, int64_t) { return row % 2; };
  EXPECT_THAT(set(two).notes(), testing::Contains("classes found in the masks: 0, 1; ignored: nothing"));
  EXPECT_THAT(error_of(ErrorKind::data,
                       [&] {
                         set(two, {0, 1});
                       }),
              HasSubstr("the masks have no class id that is not ignored (0, 1)"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { set([](int64_t r, int64_t c) { return r * 30 + c; }); }),
              HasSubstr("more than 300 different values"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { set([](int64_t, int64_t) { return 1000000; }); }),
              HasSubstr("class ids of a mask must be whole numbers, got 1"));
  std::vector<float> half(900, 0.5F);
  folder.write("half.npy", io::format_npy(io::make_array({30, 30}, std::span<const float>(half))));
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] { SegmentationSet(plain(folder.path("image.npy"), folder.path("half.npy")), 1); }),
            folder.path("half.npy") + ": class ids of a mask must be whole numbers, got 0.5");
  for (size_t i = 0; i < half.size(); ++i) half[i] = i % 3 == 0 ? NAN : static_cast<float>(i % 3);
  folder.write("holes.npy", io::format_npy(io::make_array({30, 30}, std::span<const float>(half))));
  SegmentationDataConfig holes = plain(folder.path("image.npy"), folder.path("holes.npy"));
  holes.guard = 0;
  const SegmentationSet with_holes(holes, 1);
  EXPECT_THAT(with_holes.notes(), testing::Contains("classes found in the masks: 1, 2; ignored: nothing"));
  EXPECT_EQ(with_holes.labels(0, {0, 0, 1, 3}), (std::vector<int16_t>{ClassMap::ignored, 0, 1}));
  SegmentationDataConfig list = plain(folder.path("image.npy"), folder.path("mask.npy"));
  write_mask(folder, "mask.npy", 30, 30, two);
  list.classes = "list";
  list.class_ids = {0, 255, 1};  // a class is not ignored
  list.class_names = {"x", "y", "z"};
  const SegmentationSet listed(list, 1);
  EXPECT_EQ(listed.classes().ignored_ids(), (std::vector<int64_t>{-1}));
  EXPECT_EQ(listed.classes().classes()[1].name, "y");
}

class MaskIds : public testing::Test {
 protected:
  SegmentationDataConfig config_of(const std::vector<int64_t>& ids) {
    write_image(folder_, "image.npy", 30, 30, 1);
    write_mask(folder_, "mask.npy", 30, 30,
               [&](int64_t row, int64_t) { return ids[static_cast<size_t>(row) % ids.size()]; });
    SegmentationDataConfig config = plain(folder_.path("image.npy"), folder_.path("mask.npy"));
    config.guard = 0;
    return config;
  }
  static std::vector<int64_t> classes(const SegmentationDataConfig& config) {
    std::vector<int64_t> ids;
    const SegmentationSet set(config, 1);
    for (const SceneClass& one : set.classes().classes()) ids.push_back(one.id);
    return ids;
  }
  static std::string refusal(const SegmentationDataConfig& config, ErrorKind kind = ErrorKind::data) {
    return error_of(kind, [&] { SegmentationSet(config, 1); });
  }
  ScratchFolder folder_;
};

TEST_F(MaskIds, ThatAreGreyLevelsAreClasses) {
  for (const std::vector<int64_t>& ids : {std::vector<int64_t>{0, 255},
                                          {0, 127, 255},
                                          {0, 128, 255},
                                          {0, 85, 170, 255},
                                          {0, 64, 128, 191, 255}})
    EXPECT_EQ(classes(config_of(ids)), ids);
  EXPECT_THAT(
      SegmentationSet(config_of({0, 255}), 1).notes(),
      testing::Contains("the masks have the grey levels 0, 255: 255 is taken as a class; data.ignore = [255] "
                        "ignores it"));
  EXPECT_EQ(classes(config_of({0, 1, 255})), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(classes(config_of({0, 120, 255})), (std::vector<int64_t>{0, 120}));
  EXPECT_THAT(SegmentationSet(config_of({0, 1, 255}), 1).notes(),
              testing::Contains(
                  "33.3 % of the mask pixels are ignored; data.classes = \"list\" with data.class_ids = "
                  "[0, 1, 255] makes 255 a class too, data.ignore = […] ignores other ids instead"));
}

TEST_F(MaskIds, OfOneClassAreRefusedWithTheOptionsThatHelp) {
  const std::string masks = folder_.path("mask.npy");
  EXPECT_EQ(
      refusal(config_of({1, 255})),
      masks +
          ": expected masks of at least two classes, but only the id 1 is left, since 255 is ignored (-1, "
          "255 and "
          "the masks' nodata value usually mark pixels without a label); data.classes = \"list\" with "
          "data.class_ids = [1, 255] makes 255 a class too, data.ignore = […] ignores other ids instead");
  EXPECT_EQ(refusal(config_of({3})),
            masks + ": expected masks of at least two classes, but all their pixels have the id 3");
  SegmentationDataConfig config = config_of({0, 1});
  config.ignore = {0};
  EXPECT_THAT(refusal(config), HasSubstr("only the id 1 is left, since 0 is ignored (by data.ignore)"));
  config = config_of({0, 255});
  config.ignore = {255};
  EXPECT_THAT(refusal(config), HasSubstr("only the id 0 is left"));
  config = config_of({1, 255});
  config.classes = "list";
  config.class_ids = {1, 255};
  EXPECT_EQ(classes(config), (std::vector<int64_t>{1, 255}));
  config.class_ids = {1};
  EXPECT_EQ(refusal(config, ErrorKind::config), "data.class_ids: expected at least two classes, got [1]");
  config = config_of({0});
  config.classes = "list";
  config.class_ids = {0, 1};
  EXPECT_THAT(refusal(config),
              HasSubstr("the training split has labelled pixels of 1 class, but a model needs two"));
}

TEST_F(MaskIds, ThatUsuallyMeanNothingAreAWarning) {
  const SegmentationDataConfig config = config_of({0, 1, 65535});
  EXPECT_EQ(classes(config), (std::vector<int64_t>{0, 1, 65535}));
  EXPECT_THAT(
      SegmentationSet(config, 1).warnings(),
      testing::ElementsAre("300 pixels of the masks have the id 65535, which usually marks pixels without a "
                           "label: data.ignore = [65535] ignores them"));
  EXPECT_TRUE(SegmentationSet(config_of({11, 41, 90}), 1).warnings().empty());
}

TEST_F(MaskIds, TaggedAsNodataAreIgnoredOrRefused) {
  SegmentationDataConfig config = config_of({0, 1});
  const auto write_tagged = [&](const std::vector<uint8_t>& ids, double nodata) {
    config.masks = folder_.path("mask.tif");
    io::TiffWriter writer(config.masks, {.width = 30, .height = 30, .nodata = nodata});
    std::vector<uint8_t> values(900);
    for (size_t i = 0; i < values.size(); ++i) values[i] = ids[i / 30 % ids.size()];
    writer.write_rows(0, std::span<const uint8_t>(values));
    writer.close();
  };
  write_tagged({0, 1}, 0);
  EXPECT_THAT(refusal(config), HasSubstr("only the id 1 is left, since 0 is ignored"));
  write_tagged({0, 255}, 255);
  EXPECT_THAT(refusal(config), HasSubstr("only the id 0 is left, since 255 is ignored"));
  write_tagged({0, 1, 2}, 0);
  EXPECT_EQ(classes(config), (std::vector<int64_t>{1, 2}));
  config.classes = "list";
  config.class_ids = {0, 1, 2};
  EXPECT_EQ(classes(config), (std::vector<int64_t>{0, 1, 2}));
}

TEST(Scenes, WarnOfFillValues) {
  const ScratchFolder folder;
  std::vector<float> values;
  for (int i = 0; i < 900; ++i) {
    values.push_back(i % 30 < 5 ? -3.4e38F : static_cast<float>(i));
    values.push_back(i % 30 < 5 ? -9999.0F : static_cast<float>(i));
  }
  folder.write("image.npy", io::format_npy(io::make_array({30, 30, 2}, std::span<const float>(values))));
  write_mask(folder, "mask.npy", 30, 30, [](int64_t row, int64_t) { return row % 2; });
  SegmentationDataConfig config = plain(folder.path("image.npy"), folder.path("mask.npy"));
  config.guard = 0;
  config.blocks = {1, 1};
  config.validation = config.test = 0;
  EXPECT_THAT(SegmentationSet(config, 1).warnings(),
              testing::ElementsAre("150 training pixels have -3.4e+38 in band 0, which usually stands for a "
                                   "missing value, the first in " +
                                       config.path + ": data.nodata = -3.4e+38 treats them as missing",
                                   "150 training pixels have -9999 in band 1, which usually stands for a "
                                   "missing value, the first in " +
                                       config.path + ": data.nodata = -9999 treats them as missing"));
  config.nodata = "-3.4e+38";
  const SegmentationSet named(config, 1);
  EXPECT_TRUE(named.missing());
  EXPECT_TRUE(named.warnings().empty());
}

TEST(Scenes, MeasureEachBand) {
  const ScratchFolder folder;
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) values.insert(values.end(), {5.0F, i % 2 == 0 ? 1.0F : 4.0F});
  folder.write("images/train/a.npy",
               io::format_npy(io::make_array({8, 8, 2}, std::span<const float>(values))));
  write_mask(folder, "masks/train/a.npy", 8, 8, [](int64_t r, int64_t) { return r % 2; });
  SegmentationDataConfig config = plain(folder.path("images"), folder.path("masks"));
  config.scale = "standard";
  config.validation = config.test = 0;
  const SegmentationSet set(config, 1);
  EXPECT_EQ(set.rule().scale.mean, (std::vector<double>{5, 2.5}));
  EXPECT_EQ(set.rule().scale.stddev, (std::vector<double>{1, 1.5}));
  EXPECT_THAT(set.notes(), testing::Contains("band 0 is constant in the training split"));
  EXPECT_THAT(set.notes(), testing::Not(testing::Contains(HasSubstr("measured on"))));  // all are ignored
  EXPECT_FALSE(set.missing());
  const SceneWindow window = set.read_image(set.areas(SceneSplit::train)[0]);
  EXPECT_EQ(window.image[0], 0);
  EXPECT_EQ(window.image[1], -1);
  config.scale = "divide";
  config.divide = 4;
  const SegmentationSet divided(config, 1);
  EXPECT_EQ(divided.rule().scale.stddev, (std::vector<double>{4, 4}));
  EXPECT_EQ(divided.rule().scale.mean, (std::vector<double>{0, 0}));
  config.scale = "none";
  config.bands = {1};
  config.nodata = "4";
  const SegmentationSet half(config, 1);
  EXPECT_TRUE(half.missing());
  EXPECT_EQ(half.rule().bands, (std::vector<int64_t>{1}));
  EXPECT_NE(half.hash(), "");
  const std::string before = half.hash();
  EXPECT_EQ(before, set.hash());
  write_mask(folder, "masks/train/a.npy", 8, 8, [](int64_t r, int64_t) { return 1 - r % 2; });
  EXPECT_NE(SegmentationSet(config, 1).hash(), before);
  config.bands = {0};
  config.nodata = "5";
  EXPECT_EQ(error_of(ErrorKind::data, [&] { SegmentationSet(config, 1); }),
            config.path + ": no pixel of the training split has data");
}

}  // namespace
}  // namespace modewise::data
