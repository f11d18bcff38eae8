#include "modewise/data/forecasting/tables/series_table.h"

#include <gmock/gmock.h>

#include <functional>

namespace modewise::data {
namespace {

using testing::ElementsAre;

TEST(DatesBySeries, AreAscendingWithinEachSeries) {
  const std::vector<int64_t> dates = {5, 1, 3, 2, 5, 4};
  const std::vector<int32_t> series = {1, 0, 1, 0, 2, 1};
  const DatesBySeries grouped = dates_by_series(dates, series);
  EXPECT_THAT(grouped.begins, ElementsAre(0, 2, 5, 6));
  EXPECT_THAT(grouped.dates, ElementsAre(1, 2, 3, 4, 5, 5));
  EXPECT_THAT(dates_by_series(dates, {}).dates, ElementsAre(1, 2, 3, 4, 5, 5));
}

TEST(DatesBySeries, ComparesDatesOfOneSeriesOnly) {
  const std::vector<int64_t> dates = {7, 7, 8, 9};
  EXPECT_FALSE(dates_by_series(dates, std::vector<int32_t>{0, 1, 0, 1}).any_two(std::equal_to<>()));
  EXPECT_TRUE(dates_by_series(dates, std::vector<int32_t>{1, 1, 0, 0}).any_two(std::equal_to<>()));
  EXPECT_TRUE(dates_by_series(dates, {}).any_two(std::equal_to<>()));
}

}  // namespace
}  // namespace modewise::data
