#include "modewise/core/progress.h"

#include <gtest/gtest.h>

#include <optional>

namespace modewise {
namespace {

TEST(DurationText, ReadsAsPeopleWriteIt) {
  EXPECT_EQ(duration_text(12.2), "12 s");
  EXPECT_EQ(duration_text(245), "4:05");
  EXPECT_EQ(duration_text(3723), "1:02:03");
  EXPECT_EQ(duration_text(-1), "?");
}

TEST(RateText, ChoosesTheUnitOfTime) {
  EXPECT_EQ(rate_text(412.25, "steps"), "412.2 steps/s");
  EXPECT_EQ(rate_text(1, "steps"), "1.0 steps/s");
  EXPECT_EQ(rate_text(0.2, "runs"), "12.0 runs/min");
  EXPECT_EQ(rate_text(0.9 / 3600, "runs"), "0.9 runs/h");
}

TEST(Progress, TellsSpeedAndTimeLeftOfItsOwnWork) {
  Progress progress("train", 20, "steps", 5);  // an earlier run made five
  EXPECT_EQ(progress.line(0), "train 5/20 steps  ? left");
  EXPECT_EQ(progress.line(3), "train 5/20 steps  ? left");
  progress.update(15);
  EXPECT_EQ(progress.line(4, "loss 0.3"), "train 15/20 steps  loss 0.3  2.5 steps/s  2 s left");
  EXPECT_EQ(progress.line(600), "train 15/20 steps  1.0 steps/min  5:00 left");
  // Two and a half steps more are under way, of which the earlier run made one half: 12 in 4 s, 2.5 are left.
  EXPECT_EQ(progress.line(4, "", 2.5, 0.5), "train 15/20 steps  3.0 steps/s  1 s left");
  progress.update(20);
  EXPECT_EQ(progress.line(5), "train 20/20 steps  3.0 steps/s  0 s left");
}

TEST(LastProgress, IsTheFractionOfTheLastLineOfProgress) {
  EXPECT_EQ(last_progress("started\ntrain 5/20 steps  loss 0.3\nevaluating 3/4 windows\n", "steps"), 0.25);
  EXPECT_EQ(
      last_progress("train 5/20 steps\ntrain 15/20 steps  3.4 steps/s\nstep 15 (epoch 3.00)\n", "steps"),
      0.75);
  EXPECT_EQ(last_progress("20/20 steps", "steps"), 1);
}

TEST(LastProgress, IsNothingWithoutSuchALine) {
  for (const char* log :
       {"", " steps", "5 steps", "/ steps", "5/ steps", "5/x steps", "-5/20 steps", "21/20 steps",
        "0/0 steps", "5/20 runs", "5/20steps", "99999999999999999999/99999999999999999999 steps"})
    EXPECT_EQ(last_progress(log, "steps"), std::nullopt) << log;
}

}  // namespace
}  // namespace modewise
