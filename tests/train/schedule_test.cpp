#include "modewise/train/loop/schedule.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "tests/error_of.h"

namespace modewise::train {
namespace {

using nlohmann::json;

ScheduleConfig named(const std::string& name) {
  ScheduleConfig config;
  config.name = name;
  return config;
}

TEST(Schedule, FollowsTheSchedulersOfTorchAndTslib) {
  const json cases = json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/train/vectors/schedules.json"));
  ASSERT_GE(cases.size(), 10U);
  for (const json& c : cases) {
    SCOPED_TRACE(c["config"].dump());
    ScheduleConfig config;
    Fields fields = fields_of(config);
    for (const auto& [key, value] : c["config"].items())
      fields.set(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
    OptimizerConfig optimizer;
    optimizer.learning_rate = 0.02;
    const Schedule schedule(config, optimizer, c["steps_per_epoch"], c["total_steps"]);
    for (size_t step = 0; step < c["rates"].size(); ++step) {
      const StepRate rate = schedule.at(static_cast<int64_t>(step));
      EXPECT_NEAR(rate.learning_rate, c["rates"][step].get<double>(), 1e-14) << "step " << step;
      EXPECT_DOUBLE_EQ(rate.beta1, c["betas"][step].get<double>()) << "step " << step;
    }
  }
}

TEST(Schedule, WarmsUpStepSchedulesWithoutShiftingTheirEpochs) {
  ScheduleConfig config = named("step");
  config.warmup_steps = 12;
  const Schedule schedule(config, {.learning_rate = 1.0}, 10, 40);
  EXPECT_DOUBLE_EQ(schedule.at(0).learning_rate, 1.0 / 12);
  EXPECT_DOUBLE_EQ(schedule.at(9).learning_rate, 10.0 / 12);
  EXPECT_DOUBLE_EQ(schedule.at(10).learning_rate, 0.5 * 11.0 / 12);
  EXPECT_DOUBLE_EQ(schedule.at(12).learning_rate, 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(25).learning_rate, 0.25);
}

TEST(Schedule, CutsWhereItIsSet) {
  // As in MedMNIST: × 0.1 at half and at three quarters of 100 epochs.
  ScheduleConfig config = named("step");
  config.step_factor = 0.1;
  config.step_at = {50, 75};
  const Schedule schedule(config, {.learning_rate = 1.0}, 3, 300);
  for (const auto& [epoch, rate] : {std::pair(0, 1.0), std::pair(49, 1.0), std::pair(50, 0.1),
                                    std::pair(74, 0.1), std::pair(75, 0.01), std::pair(99, 0.01)})
    for (const int step : {0, 2})
      EXPECT_DOUBLE_EQ(schedule.at(3 * epoch + step).learning_rate, rate) << epoch;
}

TEST(Schedule, TakesCutsInOrderAlone) {
  TrainConfig config;
  config.schedule.step_at = {50, 50};
  EXPECT_EQ(error_of(ErrorKind::config, [&] { config.validate(); }),
            "train: schedule.step_at must be ascending, got [50, 50]");
  config.schedule.step_at = {50, 75};
  config.validate();
  config.schedule.step_epochs = 2;
  EXPECT_EQ(error_of(ErrorKind::config, [&] { config.validate(); }),
            "train: schedule.step_epochs = 2 has no effect with schedule.step_at = [50, 75]");
}

TEST(Schedule, IsFiniteAtEveryOddLength) {
  for (const char* name : {"constant", "cosine", "step", "type1", "one_cycle"})
    for (const int64_t total : {0, 1, 2, 3, 7})
      for (const int64_t warmup : {0, 1, 2, 9})
        for (const double peak_at : {0.0, 0.5, 1.0}) {
          ScheduleConfig config = named(name);
          config.warmup_steps = warmup;
          config.peak_at = peak_at;
          config.cycle_momentum = true;
          const Schedule schedule(config, {.learning_rate = 1.0}, 1, total);
          for (int64_t step = 0; step < total + 2; ++step) {
            const StepRate rate = schedule.at(step);
            EXPECT_TRUE(rate.learning_rate >= 0 && rate.learning_rate <= 1)
                << name << ' ' << total << ' ' << step;
            EXPECT_TRUE(rate.beta1 > 0.8 && rate.beta1 < 1);
          }
        }
}

TEST(Schedule, StaysAtItsEndBeyondTheLastStep) {
  ScheduleConfig config = named("cosine");
  config.min_ratio = 0.25;
  EXPECT_DOUBLE_EQ(Schedule(config, {.learning_rate = 2.0}, 5, 10).at(14).learning_rate, 0.5);
  config = named("one_cycle");
  config.start_divisor = 4;
  config.end_divisor = 10;
  config.cycle_momentum = true;
  const StepRate end = Schedule(config, {.learning_rate = 2.0}, 5, 10).at(14);
  EXPECT_DOUBLE_EQ(end.learning_rate, 0.05);
  EXPECT_DOUBLE_EQ(end.beta1, 0.95);
}

TEST(Schedule, CountsEpochsFromTheirOffset) {
  const Schedule schedule(named("step"), {.learning_rate = 2.0}, 5, 30, -8);  // epoch 1 begins at step 13
  EXPECT_DOUBLE_EQ(schedule.at(12).learning_rate, 2.0);
  EXPECT_DOUBLE_EQ(schedule.at(13).learning_rate, 1.0);
}

TEST(Schedule, OneCycleMayBeginAtItsPeak) {
  ScheduleConfig config = named("one_cycle");
  config.start_divisor = 4;
  config.end_divisor = 10;
  config.cycle_momentum = true;
  for (const double peak_at : {0.0, 0.2}) {  // none and the first of 5 steps
    config.peak_at = peak_at;
    const Schedule schedule(config, {.learning_rate = 2.0}, 5, 5);
    EXPECT_DOUBLE_EQ(schedule.at(0).learning_rate, 2.0) << peak_at;
    EXPECT_DOUBLE_EQ(schedule.at(0).beta1, 0.85) << peak_at;
    EXPECT_DOUBLE_EQ(schedule.at(2).learning_rate, (2.0 + 0.05) / 2) << peak_at;
    EXPECT_DOUBLE_EQ(schedule.at(4).learning_rate, 0.05) << peak_at;
  }
  config.peak_at = 0;
  EXPECT_DOUBLE_EQ(Schedule(config, {.learning_rate = 2.0}, 1, 1).at(0).learning_rate, 2.0);
}

TEST(Schedule, AnEpochHasAStepAtLeast) {
  EXPECT_DOUBLE_EQ(Schedule(named("step"), {.learning_rate = 2.0}, 0, 0).at(0).learning_rate, 2.0);
}

}  // namespace
}  // namespace modewise::train
