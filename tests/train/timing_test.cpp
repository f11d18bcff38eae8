#include "modewise/train/timing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace modewise::train {
namespace {

TEST(Timing, CountsCallsThatEndAndTheirSeconds) {
  Timing timing;
  for (int i = 0; i < 3; ++i)
    Timing::measure(timing.steps, [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  EXPECT_THROW(Timing::measure(timing.evaluations, [] { throw std::runtime_error("interrupted"); }),
               std::runtime_error);
  const auto json = timing.to_json();
  EXPECT_EQ(json["steps"]["count"], 3);
  EXPECT_GE(json["steps"]["seconds"], 0.015);
  EXPECT_LT(json["steps"]["processor_seconds"], json["steps"]["seconds"]);  // asleep
  EXPECT_EQ(json["evaluations"]["count"], 0);
  EXPECT_EQ(json["evaluations"]["seconds"], 0.0);
  EXPECT_GT(json["peak_memory_bytes"], 1 << 20);
}

}  // namespace
}  // namespace modewise::train
