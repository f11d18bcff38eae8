#pragma once
// What a checkpoint keeps of a training, and back.

#include <optional>
#include <string>
#include <vector>

#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/loop/optimizer.h"
#include "modewise/train/loop/task.h"
#include "modewise/train/loop/train_config.h"
#include "modewise/train/checkpoint/train_state.h"
#include "modewise/train/loop/weight_average.h"

namespace modewise::train {

struct TrainingParts {
  Task& task;
  const TrainConfig& config;
  Optimizer& optimizer;
  std::optional<WeightAverage>& average;
  std::vector<NamedTensor>& best_weights;  // empty before the first evaluation
  TrainState& state;
  const std::string& run;  // the identity of the run, "" where it has none
};

/// Writes the checkpoint of the step that was reached.
void save_training(const CheckpointStore& store, const TrainingParts& parts);

/// Takes all of it from a checkpoint. Errors: config when it was saved under other settings and data when it
/// was of other data, unless `accept_changes`; data when its state cannot be read.
void load_training(const Checkpoint& checkpoint, const TrainingParts& parts, bool accept_changes);

/// The identity of the run that saved a checkpoint, "" where it carries none.
std::string run_of(const Checkpoint& checkpoint);
/// The step that its best weights are from.
int64_t best_step_of(const Checkpoint& checkpoint);

}  // namespace modewise::train
