#pragma once
// Everything of a training run that is not the data, the model or the loss.

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
  std::vector<int64_t> step_at;  // step: the epochs of its cuts; empty: every step_epochs
  double step_factor = 0.5;      // step, type1
  double peak_at = 0.3;          // one_cycle
  double start_divisor = 25.0;   // one_cycle
  double end_divisor = 1e4;      // one_cycle
  bool cycle_momentum = false;   // one_cycle

  void fields(Fields& f);
};

struct TrainConfig {
  static constexpr int64_t kOpenEpochs = -1;  // what the task chooses, before anything is trained

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
  bool recompute = false;  // keep little for the backward pass (ops/recompute_mode.h)
  int64_t checkpoint_every_steps = 0;
  double checkpoint_every_minutes = 10.0;
  bool test = true;                // judge on the test part after training; false: it stays unread
  std::vector<std::string> track;  // what each evaluation records besides the metrics: stable_rank
  int64_t keep_checkpoints = 2;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  bool tensorboard = false;  // write event files beside metrics.jsonl; stands under [output] in configs

  void fields(Fields& f);
  /// What of the training stands under [output], called where the root's groups are listed.
  void output_fields(Fields& f);
  /// Whether `what` is tracked.
  bool tracks(std::string_view what) const {
    return std::find(track.begin(), track.end(), what) != track.end();
  }
  /// The rules that tie fields together, after each field's own; config errors.
  void validate() const;
};

/// False for the fields whose change on resume alters no bit of the result: how often to save, how many to
/// keep, what is kept for the backward pass, whether the test part is read afterwards.
bool changes_numbers(std::string_view field_path);

}  // namespace modewise::train
