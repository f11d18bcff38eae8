#pragma once
// What comes out of training a task's run.

#include <nlohmann/json.hpp>

#include "modewise/train/loop/trainer.h"

namespace modewise::tasks {

struct TrainedRun {
  train::TrainResult training;
  nlohmann::ordered_json metrics;  // metrics.json; empty when a signal stopped the run
};

}  // namespace modewise::tasks
