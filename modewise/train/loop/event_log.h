#pragma once
// TensorBoard event log of a training. Each start writes its own event file: a truncated end of an earlier
// file stays, and its records of repeated steps are purged.

#include <cstdint>
#include <filesystem>
#include <span>

#include "modewise/io/events/event_file.h"
#include "modewise/train/loop/task.h"

namespace modewise::train {

/// Scalars of one optimizer step.
struct StepFigures {
  double loss = 0, learning_rate = 0;
  double gradient_norm = 0;  // before clipping
};

class EventLog {
 public:
  /// Log of a training of `total_steps` that continues after `step`. Errors as io::EventFile.
  EventLog(const std::filesystem::path& folder, int64_t step, int64_t total_steps);

  /// train/loss, train/learning_rate, train/gradient_norm after `step` steps; longer trainings record about
  /// 10,000 evenly spaced steps.
  void add_step(int64_t step, const StepFigures& figures);
  /// Tags: val_x becomes validation/x, rank_x stable_rank/x, other names evaluation/x.
  void add_evaluation(int64_t step, const Metrics& metrics, std::span<const Image> images);
  /// Syncs the file to disk; called before a checkpoint is saved, since its steps are not repeated.
  void sync() { file_.sync(); }

 private:
  io::EventFile file_;
  int64_t every_;
};

}  // namespace modewise::train
