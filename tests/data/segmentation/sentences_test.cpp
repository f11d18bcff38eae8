// Exact error messages of segmentation data; all numbers and names in them are distinct.

#include <gmock/gmock.h>

#include <cmath>

#include "modewise/data/segmentation/segmentation_set.h"
#include "tests/data/segmentation/scene_files.h"

namespace modewise::data {
namespace {

TEST(SceneSentences, OfClassMaps) {
  using Make = std::function<void()>;
  const std::vector<std::pair<Make, const char*>> cases = {
      {[] { ClassMap("x", {}, {}); }, "class map x: 1 to 255 classes, got 0"},
      {[] {
         ClassMap("x", plain_classes({5, 5}, {}), {});
       },
       "class map x: duplicate id 5"},
      {[] {
         ClassMap("x", plain_classes({5, 6}, {}), {6});
       },
       "class map x: id 6 is a class and ignored"},
      {[] {
         plain_classes({5, 6}, {"one"});
       },
       "1 class names for 2 class ids: give one name per id, or none"},
      {[] { plain_classes({5}, {}, {"#0072bg"}); },
       "a class colour must be like \"#0072b2\", got '#0072bg'"}};
  for (const auto& [make, sentence] : cases) EXPECT_EQ(error_of(ErrorKind::config, make), sentence);
}

TEST(SceneSentences, OfSettings) {
  SegmentationDataConfig config;
  config.validation = 0.25;
  config.test = 0.5;
  const auto refused = [&] { return error_of(ErrorKind::config, [&] { config.validate("s.toml"); }); };
  config.class_ids = {1};
  const std::string list =
      "s.toml: data.class_ids, data.class_names and data.class_colors need data.classes = \"list\", got "
      "\"nlcd\"";
  config.classes = "nlcd";
  EXPECT_EQ(refused(), list);
  config.class_ids = {};
  config.class_names = {"x"};
  EXPECT_EQ(refused(), list);
  config.class_names = {};
  config.class_colors = {"#000000"};
  EXPECT_EQ(refused(), list);
  config.class_colors = {};
  EXPECT_NO_THROW(config.validate("s.toml"));
  config.validation = 0.5;
  config.test = 0.75;
  EXPECT_EQ(refused(), "s.toml: data.validation = 0.5 and data.test = 0.75 leave nothing to train on");
}

TEST(SceneSentences, OfFilesAndPairs) {
  const ScratchFolder folder;
  const auto set_error = [&](const SegmentationDataConfig& config, ErrorKind kind = ErrorKind::data) {
    std::string message = error_of(kind, [&] { SegmentationSet(config, 4); });
    const std::string here = folder.path("");
    for (size_t at; (at = message.find(here)) != std::string::npos;) message.erase(at, here.size());
    return message;
  };
  const auto pair = [&](const char* image, const char* mask) {
    return plain(folder.path(image), folder.path(mask));
  };
  const auto even = [](int64_t row, int64_t) { return row % 2; };
  write_image(folder, "image.npy", 32, 30, 2);
  write_mask(folder, "small.npy", 29, 31, even);
  write_mask(folder, "masks/a.npy", 8, 8, even);
  EXPECT_EQ(set_error(pair("image.npy", "small.npy")),
            "small.npy: the mask has 29 × 31 pixels, but its image image.npy has 32 × 30");
  EXPECT_EQ(set_error(pair("image.npy", "masks")), "masks is a folder, but the image image.npy has one mask");
  EXPECT_EQ(set_error(pair("image.npy", "image.npy")),
            "image.npy: a mask must have one band of class ids, got 2 bands");
  EXPECT_EQ(set_error(pair("masks", "masks")),
            "masks: images and masks are in one folder: set data.image_suffix and data.mask_suffix");
  SegmentationDataConfig config = pair("image.npy", "mask.npy");
  config.layout = "folder";
  write_mask(folder, "mask.npy", 32, 30,
             [](int64_t row, int64_t column) { return row == 9 && column == 4 ? 7 : 1; });
  EXPECT_EQ(set_error(config, ErrorKind::no_input), "image.npy is not a folder of images");
  config = pair("image.npy", "mask.npy");
  config.classes = "list";
  config.class_ids = {1, 2};
  EXPECT_EQ(set_error(config),
            "mask.npy: row 9, column 4: class id 7 is not in the class map 'list' (-1, 1, 2, 255); "
            "data.ignore_unlisted = true ignores such pixels");
  config.bands = {1, 3};
  EXPECT_EQ(set_error(config), "image.npy: data.bands contains 3, but the image has bands 0 to 1");
  config.bands = {2};
  EXPECT_EQ(set_error(config), "image.npy: data.bands contains 2, but the image has bands 0 to 1");
  config.bands = {};
  config.ignore_unlisted = true;
  config.blocks = {4, 31};
  EXPECT_EQ(set_error(config), "image.npy: data.blocks = [4, 31] exceeds its 32 × 30 pixels");
  config.blocks = {33, 4};
  EXPECT_EQ(set_error(config), "image.npy: data.blocks = [33, 4] exceeds its 32 × 30 pixels");
  config = pair("image.npy", "mask.npy");
  config.classes = "cdl";
  config.ignore = {255};
  EXPECT_EQ(set_error(config, ErrorKind::config),
            "data.classes = \"cdl\" ignores only 0: data.ignore must be empty");
  config = pair("image.npy", "mask.npy");
  config.ignore = {7, 1};
  EXPECT_EQ(set_error(config),
            "mask.npy: the masks have no class id that is not ignored (1, 7); data.classes = \"list\" with "
            "data.class_ids = [1, 7] makes them classes");
  write_mask(folder, "mask.npy", 32, 30, [](int64_t r, int64_t c) { return r * 30 + c; });
  EXPECT_EQ(set_error(pair("image.npy", "mask.npy")),
            "mask.npy: more than 300 different values: is it a mask of class ids?");
  write_mask(folder, "mask.npy", 32, 30, [](int64_t, int64_t) { return 1000000; });
  EXPECT_EQ(set_error(pair("image.npy", "mask.npy")),
            "mask.npy: class ids of a mask must be whole numbers, got 1000000");
  for (const std::string name : {"a", "b", "c"}) {  // fewer could not be split
    write_image(folder, "tiles/" + name + ".npy", 8, 8, name == "b" ? 2 : 3);
    write_mask(folder, "masks/" + name + ".npy", 8, 8, even);
  }
  EXPECT_EQ(set_error(pair("tiles", "masks")),
            "tiles/b.npy: 1 dates of 2 bands, but tiles/a.npy has 1 of 3: all images must have the same "
            "dates and bands");
  config = pair("test", "masks");
  write_image(folder, "test/test/a.npy", 8, 8, 1);
  write_mask(folder, "masks/test/a.npy", 8, 8, even);
  EXPECT_EQ(set_error(config), "test: no tiles to train on");
}

TEST(SceneSentences, OfDates) {
  const ScratchFolder folder;
  const std::vector<float> values(3 * 4 * 4 * 2, 1);
  const auto image = [&](const std::string& name, int64_t times) {
    return folder.write(
        name, io::format_npy(io::make_array(
                  {times, 4, 4, 2}, std::span<const float>(values).first(static_cast<size_t>(times * 32)))));
  };
  const std::string first = image("images/a.npy", 3), second = image("images/b.npy", 1);
  for (const char* name : {"a", "b"})
    write_mask(folder, std::string("masks/") + name + ".npy", 4, 4, [](int64_t r, int64_t) { return r % 2; });
  SegmentationDataConfig config = plain(folder.path("images"), folder.path("masks"));
  config.validation = config.test = 0;
  EXPECT_EQ(error_of(ErrorKind::data, [&] { SegmentationSet(config, 4); }),
            second + ": 1 dates of 2 bands, but " + first +
                " has 3 of 2: all images must have the same dates and bands");
}

TEST(SceneSentences, OfArrays) {
  const ScratchFolder folder;
  const auto refused = [&](std::vector<int64_t> shape, const char* axes) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    const std::vector<float> values(static_cast<size_t>(count));
    const std::string path = folder.write(
        "a.npy", io::format_npy(io::make_array(std::move(shape), std::span<const float>(values))));
    std::string message = error_of(ErrorKind::data, [&] { open_raster(path, axes); });
    return message.replace(message.find(path), path.size(), "a.npy");
  };
  EXPECT_EQ(refused({2, 3, 4, 5}, "hwc"),
            "a.npy: an array with 4 axes, but an image has 3, 'hwc' (data.axes sets their order)");
  EXPECT_EQ(refused({2}, "auto"),
            "a.npy: an array with 1 axes, but an image has 2, 3 or 4 (data.axes sets their order)");
  EXPECT_EQ(refused({}, "auto"),
            "a.npy: an array with 0 axes, but an image has 2, 3 or 4 (data.axes sets their order)");
  EXPECT_EQ(refused({0, 3}, "auto"), "a.npy: the array has no elements");
}

TEST(SceneSentences, OfSummaries) {
  const ScratchFolder folder;
  write_image(folder, "image.npy", 64, 48, 2);
  write_mask(folder, "mask.npy", 64, 48, [](int64_t row, int64_t) { return row % 3; });
  const SegmentationSet set(plain(folder.path("image.npy"), folder.path("mask.npy")), 4);
  const auto whole = to_json(set.summary());
  const auto refused = [&](const std::function<void(nlohmann::ordered_json&)>& change) {
    auto changed = whole;
    change(changed);
    const std::string path = folder.write("data.json", changed.dump());
    const std::string message = error_of(ErrorKind::data, [&] { read_scene_summary(path); });
    const std::string begin = path + ": not a segmentation run's data.json: ";
    EXPECT_EQ(message.substr(0, begin.size()), begin);
    return message.substr(begin.size());
  };
  EXPECT_EQ(refused([](auto& json) { json.erase("window"); }),
            "[json.exception.out_of_range.403] key 'window' not found");
  const std::string differ = "its lists of bands, means and standard deviations differ in length";
  EXPECT_EQ(refused([](auto& json) { json["mean"] = {1}; }), differ);
  EXPECT_EQ(refused([](auto& json) { json["std"] = {1, 2, 3}; }), differ);
  EXPECT_EQ(refused([](auto& json) {
              for (const char* name : {"bands", "mean", "std"}) json[name] = nlohmann::json::array();
            }),
            differ);
  EXPECT_EQ(refused([](auto& json) { json["bands"] = {0, 2}; }), "band 2 of 2");
  const SceneSummary summary = read_scene_summary(folder.write("data.json", whole.dump()));
  EXPECT_EQ(to_json(summary), whole);
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { read_scene_summary(folder.path("none.json")); }),
            "cannot open " + folder.path("none.json") + ": No such file or directory");
  RasterInfo other = {};
  other.times = 5;
  other.bands = 3;
  other.source = "other.tif";
  EXPECT_EQ(
      error_of(ErrorKind::data, [&] { require_fits(summary, other); }),
      "other.tif: 5 dates of 3 bands, but the run was trained on 1 of 2 (" + folder.path("image.npy") + ")");
  other.times = 1;
  EXPECT_EQ(error_of(ErrorKind::data, [&] { require_fits(summary, other); }).substr(0, 29),
            "other.tif: 1 dates of 3 bands");
  other.bands = 2;
  EXPECT_NO_THROW(require_fits(summary, other));
}

}  // namespace
}  // namespace modewise::data
