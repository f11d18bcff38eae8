#include "modewise/data/forecasting/tables/series_ids.h"

#include <gmock/gmock.h>

namespace modewise::data {
namespace {

using testing::ElementsAre;

TEST(SeriesIds, GiveBackTheirCells) {
  SeriesIds ids;
  EXPECT_EQ(ids.size(), 0u);
  ids.add({"north", "007"});
  ids.add({"north", ""});
  EXPECT_EQ(ids.size(), 2u);
  EXPECT_THAT(ids[0], ElementsAre("north", "007"));
  EXPECT_THAT(ids.labels(), ElementsAre("north/007", "north/"));
}

TEST(SeriesIds, OfOneColumnAreItsCells) {
  SeriesIds ids;
  for (int i = 0; i < 3000; ++i) ids.add({std::to_string(i)});
  for (size_t i = 0; i < 3000; ++i) EXPECT_EQ(ids.label(i), std::to_string(i));
}

}  // namespace
}  // namespace modewise::data
