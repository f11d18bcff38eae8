#pragma once
// The training loop, deterministic and resumable: random numbers are keyed by (seed, step), reductions use
// fixed trees, and checkpoints hold all other state, so an interrupted and resumed run ends with the same
// bits as an uninterrupted one, for any number of threads.

#include <cstdint>
#include <functional>

#include "modewise/train/checkpoint/run_folder.h"
#include "modewise/train/distributed/workers.h"
#include "modewise/train/loop/task.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::train {

enum class StopReason { finished, early_stopping, signal };

struct TrainResult {
  StopReason reason = StopReason::finished;
  int signal = 0;     // 2 or 15 when reason is signal: the program exits 128 + signal
  int64_t steps = 0;  // total optimizer steps, including those before a resume
  double epochs = 0;
  int64_t best_step = 0;
  Metrics best;                  // of the best evaluation
  Metrics last;                  // of the last evaluation
  bool finished_before = false;  // resumed without a step left, with its metrics.json
  bool is_rank_zero = true;      // with several processes, rank 0 evaluates the result
  bool stopped_by_signal() const { return reason == StopReason::signal; }
  bool to_be_evaluated() const { return is_rank_zero && !stopped_by_signal(); }
};

/// Trains `task`, saving checkpoints and metric lines in `run`. With `resume` it continues from the newest
/// intact checkpoint (from the first step if there is none). Unless stopped by a signal, the module ends with
/// the best weights (the EMA weights if ema_decay is set), in evaluation mode.
///
/// Errors: config if `config` differs from the checkpoint's in a field that affects results, unless
/// `accept_changes`; data if all checkpoints are damaged or belong to another model or data set; io if a file
/// cannot be written (earlier checkpoints stay intact); general if the loss, a gradient or the criterion is
/// not finite, naming step and tensor; cannot_create if another process trains in `run`. Several `workers`
/// share the shards of each batch (config.shards); only rank 0 writes, and all ranks agree on stop signals
/// and timed checkpoints. `on_resume` is called on all ranks before a resumed training continues.
TrainResult train(Task& task, const TrainConfig& config, RunFolder& run, bool resume,
                  bool accept_changes = false, Workers& workers = train::workers(),
                  const std::function<void(bool steps_left)>& on_resume = {});

}  // namespace modewise::train
