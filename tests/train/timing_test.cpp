#include "modewise/train/loop/timing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/error_of.h"

namespace modewise::train {
namespace {

TEST(Timing, CountsCallsThatEndAndTheirSeconds) {
  Timing timing;
  for (int i = 0; i < 3; ++i)
    Timing::measure(timing.steps, [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  EXPECT_EQ(exception_of<std::runtime_error>([&] {
              Timing::measure(timing.evaluations, [] { throw std::runtime_error("interrupted"); });
            }),
            "interrupted");
  const auto json = timing.to_json();
  EXPECT_EQ(json["steps"]["count"], 3);
  EXPECT_GE(json["steps"]["seconds"], 0.015);
  EXPECT_LT(json["steps"]["processor_seconds"], json["steps"]["seconds"]);  // mostly asleep
  EXPECT_EQ(json["evaluations"]["count"], 0);
  EXPECT_EQ(json["evaluations"]["seconds"], 0.0);
  EXPECT_GT(json["peak_memory_bytes"], 1 << 20);
}

TEST(Timing, TellsWhatWasSentToOthers) {
  Timing timing;
  EXPECT_FALSE(timing.to_json().contains("exchange"));
  timing.traffic = {.bytes = 1000, .seconds = 2.5};
  timing.seconds_waited = 0.5;
  const nlohmann::ordered_json wanted = {
      {"bytes_sent", 1000}, {"seconds", 2.5}, {"seconds_waited_in_steps", 0.5}};
  EXPECT_EQ(timing.to_json()["exchange"], wanted);
}

}  // namespace
}  // namespace modewise::train
