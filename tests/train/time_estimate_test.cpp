#include "modewise/train/loop/time_estimate.h"

#include <gtest/gtest.h>

#include <string>

namespace modewise::train {
namespace {

TEST(TimeEstimate, ComesOnceWhenThreeStepsAndASecondAreMeasured) {
  TimeEstimate estimate(100, 1000, false);
  EXPECT_EQ(estimate.add(60, 1), "");  // warm-up
  EXPECT_EQ(estimate.add(0.5, 2), "");
  EXPECT_EQ(estimate.add(0.75, 3), "");  // one second, but only two steps
  // 1.5 s in 3 steps: half a second each, 100 per epoch, 996 left.
  EXPECT_EQ(estimate.add(0.25, 4),
            "about 50 s per epoch, about 8:18 for the remaining 996 steps (estimated from 3 steps, without "
            "evaluations)");
  EXPECT_EQ(estimate.add(0.5, 5), "");
}

TEST(TimeEstimate, OfShortStepsTakesTwenty) {
  TimeEstimate estimate(10, 2000, true);
  for (int64_t step = 1; step < 21; ++step) EXPECT_EQ(estimate.add(0.015625, step), "");
  EXPECT_EQ(estimate.add(0.015625, 21),
            "less than 1 s per epoch, about 31 s for the remaining 1979 steps unless it stops early "
            "(estimated from 20 steps, without evaluations)");
}

TEST(TimeEstimate, IsLeftOutWhenNothingIsLeft) {
  TimeEstimate estimate(4, 4, false);
  for (int64_t step = 1; step <= 4; ++step) EXPECT_EQ(estimate.add(2, step), "");
}

TEST(TimeEstimate, ComesAtASecondInAll) {
  TimeEstimate estimate(2, 1000, false);
  for (int64_t step = 1; step <= 3; ++step) EXPECT_EQ(estimate.add(0.25, step), "");
  EXPECT_EQ(estimate.add(0.5, 4),
            "less than 1 s per epoch, about 5:32 for the remaining 996 steps (estimated from 3 steps, "
            "without evaluations)");
  TimeEstimate longer(3, 1000, false);
  for (int64_t step = 1; step <= 3; ++step) EXPECT_EQ(longer.add(0.25, step), "");
  EXPECT_EQ(longer.add(0.5, 4).substr(0, 9), "about 1 s");
}

}  // namespace
}  // namespace modewise::train
