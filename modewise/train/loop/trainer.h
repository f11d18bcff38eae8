#pragma once
// The one training loop. Randomness is keyed by (seed, step), sums that steer use fixed trees, and a
// checkpoint keeps everything else, so a run that was stopped or killed anywhere and resumed ends with the
// same bits as one that was not, for any number of threads.

#include <cstdint>

#include "modewise/train/checkpoint/run_folder.h"
#include "modewise/train/loop/task.h"
#include "modewise/train/loop/train_config.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::train {

enum class StopReason { finished, early_stopping, signal };

struct TrainResult {
  StopReason reason = StopReason::finished;
  int signal = 0;     // 2 or 15 when reason is signal: the program exits 128 + signal
  int64_t steps = 0;  // optimizer steps made in all, those before a resume included
  double epochs = 0;
  int64_t best_step = 0;
  Metrics best;       // of the best evaluation
  Metrics last;       // of the last evaluation
  bool is_rank_zero = true;  // of several processes the lead judges what was trained
  bool stopped_by_signal() const { return reason == StopReason::signal; }
  bool to_be_evaluated() const { return is_rank_zero && !stopped_by_signal(); }
};

/// Trains `task`, saving checkpoints and metric lines in `run`. With `resume` it continues from the newest
/// checkpoint that is whole (and starts anew when none was saved yet). Unless stopped by a signal, the module
/// holds the best weights afterwards (the averaged ones where ema_decay is set), in evaluation mode.
///
/// Errors: config when `config` differs from the checkpoint's in a field that changes numbers, unless
/// `accept_changes`; data when the checkpoints are all damaged or belong to another model or data set; io
/// when a file cannot be written (earlier checkpoints stay intact); general when the loss, a gradient or the
/// criterion is not finite, naming the step and the tensor; cannot_create when another process trains in
/// `run`. Of several `workers`, which share the parts that batches are cut into (config.shards), the lead
/// alone writes; signals and saves by the clock are theirs together.
TrainResult train(Task& task, const TrainConfig& config, RunFolder& run, bool resume,
                  bool accept_changes = false, Workers& workers = train::workers());

}  // namespace modewise::train
