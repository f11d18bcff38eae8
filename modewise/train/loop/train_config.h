#pragma once
// Training options: everything except data, model and loss.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::train {

struct OptimizerConfig {
  std::string name = "adamw";
  double learning_rate = 1e-3;
  double weight_decay = 0.01;
  std::vector<double> betas = {0.9, 0.999};
  double epsilon = 1e-8;
  bool decay_norms = false;

  void fields(Fields& f);
};

struct ScheduleConfig {
  std::string name = "cosine";
  int64_t warmup_steps = 0;
  double min_ratio = 0.0;        // cosine
  int64_t step_epochs = 1;       // step
  std::vector<int64_t> step_at;  // step: epochs of its reductions; empty: every step_epochs
  double step_factor = 0.5;      // step, type1
  double peak_at = 0.3;          // one_cycle
  double start_divisor = 25.0;   // one_cycle
  double end_divisor = 1e4;      // one_cycle
  bool cycle_momentum = false;   // one_cycle

  void fields(Fields& f);
};

struct TrainConfig {
  static constexpr int64_t kOpenEpochs = -1;  // the task chooses the number of epochs

  int64_t epochs = 10;
  int64_t max_steps = 0;
  int64_t batch_size = 32;
  int64_t seed = 0;
  bool drop_last = false;
  int64_t accumulate = 1;
  int64_t shards = 1;
  double clip_norm = 1.0;
  double ema_decay = 0.0;
  int64_t patience = 3;
  double min_delta = 0.0;
  int64_t evaluations_per_epoch = 1;
  int64_t log_every_steps = 0;
  int64_t prefetch = 4;
  std::string device = "auto";  // compute_device.h
  bool recompute = false;       // activation checkpointing (ops/training/recompute_mode.h)
  int64_t checkpoint_every_steps = 0;
  double checkpoint_every_minutes = 10.0;
  bool test = true;                // evaluate the test split after training; false: never read it
  std::vector<std::string> track;  // quantities recorded at each evaluation: stable_rank
  int64_t keep_checkpoints = 2;
  double timeout = 5;  // minutes
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  bool tensorboard = false;  // also write TensorBoard event files; under [output] in configs

  void fields(Fields& f);
  /// Training fields of the group [output]; call it where the root groups are added.
  void output_fields(Fields& f);
  /// Whether `what` is tracked.
  bool tracks(std::string_view what) const {
    return std::find(track.begin(), track.end(), what) != track.end();
  }
  /// Checks each field, then rules between fields; config errors.
  void validate() const;
};

/// False for fields that may change on resume without changing the result: checkpoint interval and number,
/// prefetch, activation recomputation, timeout, evaluation of the test split.
bool changes_numbers(std::string_view field_path);

}  // namespace modewise::train
