#include "modewise/data/scenes/class_map.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

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
  EXPECT_EQ(map.index_of(24), ClassMap::ignored);  // of the legend, not of the benchmark
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
  EXPECT_EQ(floods.nodata_id(), 255);
  EXPECT_EQ(nlcd_classes().nodata_id(), 0);
  EXPECT_EQ(ClassMap("large", plain_classes({1, 300}, {}), {}).nodata_id(), std::nullopt);
}

TEST(ClassMap, RefusesWhatCannotBe) {
  EXPECT_THAT(error_of(ErrorKind::config, [] { ClassMap("x", {}, {}); }),
              HasSubstr("1 to 255 classes, got 0"));
  EXPECT_THAT(error_of(ErrorKind::config,
                       [] {
                         ClassMap("x", plain_classes({1, 1}, {}), {});
                       }),
              HasSubstr("id 1 stands there twice"));
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
              HasSubstr("ids lie from"));
}

TEST(ClassMap, TakesColours) {
  const auto classes = plain_classes({4, 9}, {}, {"#0072b2", "#FFffFF"});
  EXPECT_EQ(classes[0].color, (std::array<uint8_t, 3>{0, 0x72, 0xb2}));
  EXPECT_EQ(classes[1].color, (std::array<uint8_t, 3>{255, 255, 255}));
  for (const char* wrong : {"#0072b", "0072b2f", "#0072bg", "blue", ""})
    EXPECT_THAT(error_of(ErrorKind::config, [&] { plain_classes({1}, {}, {wrong}); }),
                HasSubstr("a class colour"));
}

TEST(ClassMap, ComesBackFromJson) {
  for (const ClassMap& map :
       {nlcd_classes(), cdl_classes(), ClassMap("floods", plain_classes({0, 1}, {}), {-1})})
    EXPECT_EQ(class_map_from_json(to_json(map)), map);
}

}  // namespace
}  // namespace modewise::data
