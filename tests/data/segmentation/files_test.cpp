// Matching of masks and images, and splits by files.

#include "modewise/data/segmentation/files.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "modewise/core/file.h"
#include "modewise/core/random.h"
#include "tests/data/segmentation/scene_files.h"

namespace modewise::data {
namespace {

TEST(SceneFiles, AreDealtOutAtRandom) {
  Tiles tiles({"a", "b", "c", "d", "e", "f", "g"});
  tiles.config.validation = 0.36;  // 2.52 of 7
  tiles.config.test = 0.01;
  tiles.config.split_seed = 5;
  const SceneFiles files = tiles.files();
  EXPECT_EQ(files.layout, "folder");
  EXPECT_EQ(files.rule, "random tiles, seed 5");
  const auto order = random_permutation(7, {5, RandomSite::splits, 0});
  for (size_t i = 0; i < 7; ++i)
    EXPECT_EQ(files.files[static_cast<size_t>(order[i])].split, i < 1   ? SceneSplit::test
                                                                : i < 4 ? SceneSplit::validation
                                                                        : SceneSplit::train);
  tiles.config.validation = tiles.config.test = 0.5;
  EXPECT_EQ(tiles.refused(ErrorKind::data),
            tiles.config.path + ": 7 tiles are too few for training, 4 validation and 4 test tiles");
  tiles.config.validation = tiles.config.test = 0;
  for (const SceneFile& file : tiles.files().files) EXPECT_EQ(file.split, SceneSplit::train);
  tiles.config.split = "blocks";
  EXPECT_EQ(tiles.refused(ErrorKind::config), "data.split = \"blocks\" splits one scene, but " +
                                                  tiles.config.path + " is a folder of 7 images");
  tiles.config.split = "folders";
  EXPECT_EQ(
      tiles.refused(ErrorKind::data),
      tiles.config.path + ": data.split = \"folders\" needs folders train, val (or validation) and test");
  tiles.config.layout = "scene";
  EXPECT_EQ(tiles.refused(ErrorKind::data),
            tiles.config.path + " is a folder, but data.layout = \"scene\" is one image");
  tiles.config.path = tiles.folder.path("images/a.npy");
  tiles.config.masks = tiles.folder.path("masks/a.npy");
  EXPECT_EQ(tiles.refused(ErrorKind::config), "data.split = \"folders\" splits several images, but " +
                                                  tiles.config.path + " is one image: use \"blocks\"");
  tiles.config.split = "blocks";
  const SceneFiles one = tiles.files();
  EXPECT_EQ(one.layout, "scene");
  EXPECT_EQ(one.files[0].name, "a.npy");
  EXPECT_EQ(one.files[0].mask, tiles.config.masks);
  EXPECT_EQ(find_scene_files(tiles.config, false).files[0].mask, "");
  tiles.config.masks = "";
  EXPECT_EQ(tiles.refused(ErrorKind::no_input), "data.masks, the mask or folder of masks, does not exist");
  EXPECT_NO_THROW(find_scene_files(tiles.config, false));
}

TEST(SceneFiles, FollowTheirFolders) {
  Tiles tiles({"train/a", "val/b", "validation/c", "test/d"});
  const SceneFiles files = tiles.files();
  EXPECT_EQ(files.rule, "the folders train, val and test");
  std::vector<std::string> names;
  for (const SceneFile& file : files.files)
    names.push_back(fmt::format("{} {}", file.name, static_cast<int>(*file.split)));
  EXPECT_THAT(names,
              testing::ElementsAre("test/d.npy 2", "train/a.npy 0", "val/b.npy 1", "validation/c.npy 1"));
  tiles.config.image_suffix = "x";
  EXPECT_EQ(
      tiles.refused(ErrorKind::data),
      tiles.config.path + ": no images in this folder (.tif, .tiff, .npy, .png or .jpg, with the suffix x)");
  tiles.config.image_suffix = "";
  tiles.folder.write("images/more/e.npy", "x");
  const SceneFiles others = tiles.files();
  EXPECT_EQ(others.files.size(), 4U);
  EXPECT_EQ(others.rule, "the folders train, val and test");
  EXPECT_THAT(others.notes, testing::ElementsAre(tiles.config.path +
                                                 ": more is left out; the splits are the folders train, val "
                                                 "and test"));
  tiles.config.split = "random";
  EXPECT_EQ(
      tiles.refused(ErrorKind::data),
      tiles.folder.path("images/more/e.npy") + ": no mask: expected " + tiles.config.masks +
          "/more/e (.tif, .tiff, .npy or .png); set data.image_suffix and data.mask_suffix for other names");
  tiles.folder.write("masks/more/e.tif", "x");
  tiles.folder.write("images/notes.txt", "x");
  EXPECT_EQ(tiles.files().rule, "random tiles, seed 0");
  tiles.config.masks = tiles.folder.path("images/notes.txt");
  EXPECT_EQ(tiles.refused(ErrorKind::no_input), tiles.config.masks + " is not a folder of masks");
}

TEST(SceneFiles, OfOneFolderAreDistinguishedByTheirEnds) {
  const ScratchFolder folder;
  for (const char* name : {"a", "a_mask", "b", "b_mask"})
    folder.write(std::string("x/") + name + ".tif", "x");
  SegmentationDataConfig config = plain(folder.path("x"), folder.path("x"));
  config.mask_suffix = "_mask";
  config.validation = 0;
  const SceneFiles files = find_scene_files(config, true);
  ASSERT_EQ(files.files.size(), 2U);
  EXPECT_EQ(files.files[1].name, "b.tif");
  EXPECT_EQ(files.files[1].mask, folder.path("x/b_mask.tif"));
  config.image_suffix = "_mask";  // the other way round
  config.mask_suffix = "";
  const SceneFiles rotated = find_scene_files(config, true);
  ASSERT_EQ(rotated.files.size(), 2U);
  EXPECT_EQ(rotated.files[1].name, "b_mask.tif");
  EXPECT_EQ(rotated.files[1].mask, folder.path("x/b.tif"));
}

TEST(Ssl4eo, TakesTheFirstYearOfMasks) {
  const ScratchFolder folder;
  folder.write("images/0/LE07/all_bands.tif", "x");
  folder.write("images/0/LE07/thumbnail.png", "x");
  SegmentationDataConfig config = plain(folder.path("images"), folder.path("masks"));
  EXPECT_EQ(find_scene_files(config, false).layout, "ssl4eo");
  folder.write("masks/note", "x");
  EXPECT_EQ(error_of(ErrorKind::data, [&] { find_scene_files(config, true); }),
            folder.path("images/0/LE07/all_bands.tif") +
                ": no mask: expected nlcd_YEAR.tif or cdl_YEAR.tif in " + folder.path("masks/0/LE07"));
  for (const char* name : {"nlcd_2019.tif", "nlcd_2011.tif", "nlcd_2001.png", "a_nlcd_1.tif"})
    folder.write(std::string("masks/0/LE07/") + name, "x");
  EXPECT_EQ(find_scene_files(config, true).files[0].mask, folder.path("masks/0/LE07/nlcd_2011.tif"));
  folder.write("masks/0/LE07/cdl_2019.tif", "x");
  EXPECT_EQ(find_scene_files(config, true).files[0].mask, folder.path("masks/0/LE07/cdl_2019.tif"));
  EXPECT_EQ(find_scene_files(config, true).rule,
            "SSL4EO-L: numpy's shuffle of the sorted paths, seed 0, 70/15/15 %");
  config.path = folder.path("nowhere");
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { find_scene_files(config, true); }),
            config.path + " does not exist");
  config.path = folder.write("x/a.tif", "x");
  config.layout = "ssl4eo";
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { find_scene_files(config, true); }),
            config.path + " is not a folder of SSL4EO-L images");
}

TEST(Ssl4eo, IsSplitAsItsPaperDid) {
  const ScratchFolder folder;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) {
    const std::string place = fmt::format("{:07}/LE07_{:03}", i, i);
    folder.write("images/" + place + "/all_bands.tif", "x");
    folder.write("masks/" + place + "/nlcd_2019.tif", "x");
    names.push_back(place + "/all_bands.tif");
  }
  const SceneFiles files = find_scene_files(plain(folder.path("images"), folder.path("masks")), true);
  EXPECT_EQ(files.layout, "ssl4eo");
  const auto name = [&](size_t i) { return files.files[i].name; };
  const nlohmann::json expected =
      nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/data/vectors/ssl4eo_split.json"));
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(name(i), names[expected["order"][i].get<size_t>()]);
    EXPECT_EQ(files.files[i].split, i < 28   ? SceneSplit::train
                                    : i < 34 ? SceneSplit::validation
                                             : SceneSplit::test);
  }
}

}  // namespace
}  // namespace modewise::data
