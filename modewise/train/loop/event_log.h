#pragma once
// A training as TensorBoard shows it. Each start writes an event file of its own: what was cut off at the end
// of an earlier one stays there, and what it holds of steps that are made again no longer counts.

#include <cstdint>
#include <filesystem>
#include <span>

#include "modewise/io/events/event_file.h"
#include "modewise/train/loop/task.h"

namespace modewise::train {

/// Of one optimizer step.
struct StepFigures {
  double loss = 0, learning_rate = 0;
  double gradient_norm = 0;  // before clipping
};

class EventLog {
 public:
  /// Of a training of `total_steps` that goes on behind `step`. Errors as io::EventFile.
  EventLog(const std::filesystem::path& folder, int64_t step, int64_t total_steps);

  /// train/loss, train/learning_rate, train/gradient_norm after `step` steps; of more than 10,000 steps about
  /// that many are kept, evenly spread.
  void add_step(int64_t step, const StepFigures& figures);
  /// val_x becomes validation/x, rank_x stable_rank/x, and other names stand under evaluation/.
  void add_evaluation(int64_t step, const Metrics& metrics, std::span<const Image> pictures);
  /// Makes them durable; called before a checkpoint is saved, as its steps are not made again.
  void sync() { file_.sync(); }

 private:
  io::EventFile file_;
  int64_t every_;
};

}  // namespace modewise::train
