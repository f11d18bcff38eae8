#pragma once
// Fixture of the trainer tests: a toy task trained in its own run folder.

#include <gtest/gtest.h>

#include <limits>

#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/loop/trainer.h"
#include "tests/scratch_folder.h"
#include "toy_task.h"

namespace modewise::train {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline TrainConfig small_config() {
  TrainConfig config;
  config.epochs = 3;
  config.batch_size = 30;  // 5 steps an epoch
  config.patience = 0;
  return config;
}

class TrainerTest : public testing::Test {
 protected:
  void TearDown() override { set_stop_signal(0); }
  TrainResult train(const TrainConfig& config, bool resume = false, bool accept_changes = false) {
    return train::train(task, config, run, resume, accept_changes);
  }
  Error error_of(const TrainConfig& config, bool resume = false) {
    try {
      train(config, resume);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return {ErrorKind::general, ""};
  }

  ScratchFolder scratch;
  RunFolder run = RunFolder::create(scratch / "run");
  ToyTask task;
};

}  // namespace modewise::train
