#include "modewise/tasks/forecasting/data.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "tests/error_of.h"

namespace modewise::tasks {
namespace {

TEST(ForecastData, TheHashDoesNotDependOnTheTypeOfTheValues) {
  data::Series doubles;
  doubles.values = at::arange(int64_t{3} << 20, at::kDouble).reshape({-1, 3}) / 4;  // several blocks
  data::Series floats = doubles;
  floats.values = doubles.values.to(at::kFloat);
  EXPECT_EQ(hash_of(floats), hash_of(doubles));
  floats.values[7][1] = 0.25;
  EXPECT_NE(hash_of(floats), hash_of(doubles));
}

TEST(ForecastData, WindowsAreThoseOfAKnownSplit) {
  const data::SplitWindows windows;
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { windows_of(windows, "foo"); }),
            "there is no split 'foo' (there are train, validation, test, all)");
}

}  // namespace
}  // namespace modewise::tasks
