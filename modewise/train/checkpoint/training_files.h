#pragma once
// Saving and loading the complete training state as a checkpoint.

#include <optional>
#include <string>
#include <vector>

#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/checkpoint/train_state.h"
#include "modewise/train/loop/optimizer.h"
#include "modewise/train/loop/task.h"
#include "modewise/train/loop/train_config.h"
#include "modewise/train/loop/weight_average.h"

namespace modewise::train {

struct TrainingParts {
  Task& task;
  const TrainConfig& config;
  Optimizer& optimizer;
  std::optional<WeightAverage>& average;
  std::vector<NamedTensor>& best_weights;  // empty before the first evaluation
  TrainState& state;
  const std::string& run;  // the run id; "" if it has none
};

/// Writes a checkpoint of the current step.
void save_training(const CheckpointStore& store, const TrainingParts& parts);

/// Restores the training state from a checkpoint. Errors: config if it was saved with other settings and data
/// if it was of other data, unless `accept_changes`; data if its state cannot be read.
void load_training(const Checkpoint& checkpoint, const TrainingParts& parts, bool accept_changes);

/// The id of the run that saved a checkpoint; "" if it has none.
std::string run_of(const Checkpoint& checkpoint);
/// The step of its best weights.
int64_t best_step_of(const Checkpoint& checkpoint);

}  // namespace modewise::train
