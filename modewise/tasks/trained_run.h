#pragma once
// Result of training a run.

#include <nlohmann/json.hpp>

#include "modewise/train/loop/trainer.h"

namespace modewise::tasks {

struct TrainedRun {
  train::TrainResult training;
  nlohmann::ordered_json metrics;  // metrics.json; empty if a signal stopped the run
};

}  // namespace modewise::tasks
