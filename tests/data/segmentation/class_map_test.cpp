#include "modewise/data/segmentation/class_map.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int64_t> ids(const ClassMap& map) {
  std::vector<int64_t> result;
  for (const SceneClass& one : map.classes()) result.push_back(one.id);
  return result;
}

TEST(ClassMap, KnowsTheClassesOfTheBenchmark) {
  EXPECT_EQ(ids(nlcd_classes()), (std::vector<int64_t>{11, 21, 22, 31, 41, 42, 43, 52, 71, 81, 82, 90, 95}));
  EXPECT_EQ(ids(cdl_classes()), (std::vector<int64_t>{1, 5, 24, 36, 37, 61, 111, 121, 122, 131, 141, 142, 143,
                                                      152, 176, 190, 195}));
}

TEST(ClassMap, PlacesIdsIgnoresOthersAndRefusesTheRest) {
  const ClassMap map = nlcd_classes();
  EXPECT_EQ(map.index_of(11), 0);
  EXPECT_EQ(map.index_of(95), 12);
  EXPECT_EQ(map.index_of(0), ClassMap::ignored);
  EXPECT_EQ(map.index_of(24), ClassMap::ignored);  // in the legend, not in the benchmark
  EXPECT_EQ(map.index_of(7), std::nullopt);
  EXPECT_EQ(map.index_of(-1), std::nullopt);
  EXPECT_EQ(map.index_of(96), std::nullopt);
  EXPECT_EQ(map.index_of(11.5), std::nullopt);
  EXPECT_EQ(map.index_of(std::nan("")), std::nullopt);
  EXPECT_EQ(cdl_classes().index_of(5), 1);
  EXPECT_EQ(cdl_classes().index_of(4), ClassMap::ignored);
}

TEST(ClassMap, TakesNegativeIdsAndChoosesWhatMeansNothing) {
  const ClassMap floods("floods", plain_classes({0, 1}, {"dry", "water"}), {-1});
  EXPECT_EQ(floods.index_of(-1), ClassMap::ignored);
  EXPECT_EQ(floods.index_of(1), 1);
  EXPECT_EQ(floods.map_numbers(), (MapNumbers{"u8", 255}));
  EXPECT_EQ(nlcd_classes().map_numbers(), (MapNumbers{"u8", 0}));
}

TEST(ClassMap, RefusesWhatCannotBe) {
  EXPECT_THAT(error_of(ErrorKind::config, [] { ClassMap("x", {}, {}); }),
              HasSubstr("1 to 255 classes, got 0"));
  EXPECT_THAT(error_of(ErrorKind::config,
                       [] {
                         ClassMap("x", plain_classes({1, 1}, {}), {});
                       }),
              HasSubstr("duplicate id 1"));
  EXPECT_THAT(error_of(ErrorKind::config,
                       [] {
                         ClassMap("x", plain_classes({1, 2}, {}), {2});
                       }),
              HasSubstr("id 2 is a class and ignored"));
  EXPECT_THAT(error_of(ErrorKind::config,
                       [] {
                         plain_classes({1, 2}, {"one"});
                       }),
              HasSubstr("1 class names for 2 class ids"));
  EXPECT_THAT(error_of(ErrorKind::config,
                       [] {
                         ClassMap("x", plain_classes({1, int64_t{1} << 40}, {}), {});
                       }),
              HasSubstr("ids must be"));
}

TEST(ClassMap, TakesColours) {
  const auto classes = plain_classes({4, 9}, {}, {"#0072b2", "#FFffFF"});
  EXPECT_EQ(classes[0].color, (std::array<uint8_t, 3>{0, 0x72, 0xb2}));
  EXPECT_EQ(classes[1].color, (std::array<uint8_t, 3>{255, 255, 255}));
  for (const char* wrong : {"#0072b", "0072b2f", "#0072bg", "blue", ""})
    EXPECT_THAT(error_of(ErrorKind::config, [&] { plain_classes({1}, {}, {wrong}); }),
                HasSubstr("a class colour"));
}

/// "id name #rrggbb" of each class.
std::vector<std::string> legend(const std::vector<SceneClass>& classes) {
  std::vector<std::string> out;
  for (const auto& [id, name, color] : classes)
    out.push_back(fmt::format("{} {} #{:02x}{:02x}{:02x}", id, name, color[0], color[1], color[2]));
  return out;
}

/// Known ids of 0 to 255 that are not classes, as "2-6 10-14".
std::string ignored_ids(const ClassMap& map) {
  std::string out;
  for (int id = 0; id < 256; ++id) {
    if (map.index_of(id) != ClassMap::ignored) continue;
    if (map.index_of(id - 1) != ClassMap::ignored) out += fmt::format("{}{}-", out.empty() ? "" : " ", id);
    if (map.index_of(id + 1) != ClassMap::ignored) out += std::to_string(id);
  }
  return out;
}

TEST(ClassMap, HoldsThePublishedLegends) {
  EXPECT_THAT(legend(nlcd_classes().classes()),
              ElementsAre("11 open water #466b9f", "21 developed, open space #dec5c5",
                          "22 developed, low intensity #d99282", "31 barren land #b3ac9f",
                          "41 deciduous forest #68ab5f", "42 evergreen forest #1c5f2c",
                          "43 mixed forest #b5c58f", "52 shrub #ccb879", "71 grassland #dfdfc2",
                          "81 pasture, hay #dcd939", "82 cultivated crops #ab6c28",
                          "90 woody wetlands #b8d9eb", "95 herbaceous wetlands #6c9fb8"));
  EXPECT_EQ(ignored_ids(nlcd_classes()), "0-0 12-12 23-24 51-51 72-74");
  EXPECT_THAT(
      legend(cdl_classes().classes()),
      ElementsAre("1 corn #ffd300", "5 soybeans #267000", "24 winter wheat #a57000", "36 alfalfa #ffa5e2",
                  "37 other hay #a5f28c", "61 fallow #bfbf77", "111 open water #4a70a3",
                  "121 developed, open space #afafaf", "122 developed, low intensity #828282",
                  "131 barren #ccbfa3", "141 deciduous forest #93cc93", "142 evergreen forest #468c50",
                  "143 mixed forest #6eaa6e", "152 shrubland #c6d69e", "176 grassland, pasture #e8ffbf",
                  "190 woody wetlands #649ba5", "195 herbaceous wetlands #96c3c8"));
  EXPECT_EQ(ignored_ids(cdl_classes()),
            "0-0 2-4 6-6 10-14 21-23 25-35 38-60 62-77 81-83 87-88 92-92 112-112 123-124 204-250 254-254");
}

TEST(ClassMap, GivesClassesNamesAndSixteenColours) {
  std::vector<int64_t> ids(17);
  std::iota(ids.begin(), ids.end(), 3);
  const std::vector<SceneClass> classes = plain_classes(ids, {});
  std::vector<std::string> wanted;
  for (const char* color :
       {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#56b4e9", "#d55e00", "#4a5010", "#966ec8",
        "#bee0be", "#783c28", "#3c3c78", "#fabeaa", "#286e3c", "#a0a0a0", "#c81e3c", "#0072b2"})
    wanted.push_back(fmt::format("{} class {} {}", 3 + wanted.size(), 3 + wanted.size(), color));
  EXPECT_EQ(legend(classes), wanted);
}

TEST(ClassMap, KnowsToleratedIdsBeyondItsClasses) {
  const ClassMap map("x", plain_classes({5}, {}), {}, {{1, 2}, {8, 9}});
  const std::vector<int> known = {1, 2, 5, 8, 9};
  for (int id = -1; id < 12; ++id)
    EXPECT_EQ(map.index_of(id).has_value(), std::find(known.begin(), known.end(), id) != known.end()) << id;
  EXPECT_EQ(map.index_of(5), 0);
  EXPECT_EQ(map.index_of(9), ClassMap::ignored);
}

TEST(ClassMap, ListsUpToTwentyFourIdsInOrder) {
  const auto text = [](int64_t classes) {
    std::vector<int64_t> ids(static_cast<size_t>(classes));
    std::iota(ids.rbegin(), ids.rend(), 0);
    return ClassMap("x", plain_classes(ids, {}), {-1}).ids_text();
  };
  const std::string all =
      "-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22";
  EXPECT_EQ(text(23), all);
  EXPECT_EQ(text(24), all + ", …");
}

TEST(ClassMap, ChoosesANumberOfAByteForNoData) {
  const auto nodata = [](std::vector<int64_t> classes, std::vector<int64_t> ignored) {
    const MapNumbers numbers = ClassMap("x", plain_classes(classes, {}), std::move(ignored)).map_numbers();
    EXPECT_EQ(numbers.dtype, "u8");
    return numbers.nodata;
  };
  EXPECT_EQ(nodata({1}, {300, 256, -1, 7, 8}), 7);
  EXPECT_EQ(nodata({1}, {0}), 0);
  EXPECT_EQ(nodata({1}, {255}), 255);
  EXPECT_EQ(nodata({0, 255, 254}, {256}), 253);
  std::vector<int64_t> maximum(255);
  std::iota(maximum.begin(), maximum.end(), 1);
  EXPECT_EQ(nodata(maximum, {}), 0);
  maximum.push_back(0);
  EXPECT_THAT(error_of(ErrorKind::config, [&] { nodata(maximum, {}); }),
              HasSubstr("1 to 255 classes, got 256"));
}

TEST(ClassMap, ChoosesTheNarrowestTypeOfItsIds) {
  const auto numbers = [](std::vector<int64_t> classes, std::vector<int64_t> ignored) {
    return ClassMap("x", plain_classes(classes, {}), std::move(ignored)).map_numbers();
  };
  EXPECT_EQ(numbers({0, 256}, {-1, 255}), (MapNumbers{"u16", 255}));
  EXPECT_EQ(numbers({65535, 0}, {-1}), (MapNumbers{"u16", 65534}));
  EXPECT_EQ(numbers({-1, 7}, {65535}), (MapNumbers{"i16", -32768}));
  EXPECT_EQ(numbers({-32768, 32767}, {}), (MapNumbers{"i16", -32767}));
  EXPECT_EQ(numbers({-5, 0}, {-9999}), (MapNumbers{"i16", -9999}));
  EXPECT_EQ(numbers({0, 65536}, {}), (MapNumbers{"i32", INT32_MIN}));
  EXPECT_EQ(numbers({-1, 32768}, {}), (MapNumbers{"i32", INT32_MIN}));
}

TEST(ClassMap, TakesIdsUpToAMillion) {
  const int64_t farthest = 1 << 20;
  const ClassMap map("x", plain_classes({-farthest, farthest}, {}), {});
  EXPECT_EQ(map.index_of(-1048576), 0);
  EXPECT_EQ(map.index_of(1048576), 1);
  for (const int64_t id : {-farthest - 1, farthest + 1}) {
    EXPECT_EQ(error_of(ErrorKind::config, [&] { ClassMap("x", plain_classes({id}, {}), {}); }),
              fmt::format("class map x: ids must be −1048576 to 1048576, got {}", id));
    EXPECT_THAT(error_of(ErrorKind::config, [&] { ClassMap("x", plain_classes({1}, {}), {id}); }),
                HasSubstr("ids must be"));
    EXPECT_THAT(error_of(ErrorKind::config,
                         [&] {
                           ClassMap("x", plain_classes({1}, {}), {}, {{id, 0}});
                         }),
                HasSubstr("ids must be"));
    EXPECT_THAT(error_of(ErrorKind::config,
                         [&] {
                           ClassMap("x", plain_classes({1}, {}), {}, {{0, id}});
                         }),
                HasSubstr("ids must be"));
  }
  EXPECT_EQ(error_of(ErrorKind::config,
                     [] {
                       plain_classes({1}, {}, {"#000000", "#000000"});
                     }),
            "2 class colours for 1 class ids: give one colour per id, or none");
}

TEST(ClassMap, ComesBackFromJson) {
  for (const ClassMap& map :
       {nlcd_classes(), cdl_classes(), ClassMap("floods", plain_classes({0, 1}, {}), {-1})})
    EXPECT_EQ(class_map_from_json(to_json(map)), map);
}

}  // namespace
}  // namespace modewise::data
