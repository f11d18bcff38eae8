#pragma once
// Learning rate schedules: the rate as a function of the optimizer step only.

#include <cstdint>

#include "modewise/train/loop/train_config.h"

namespace modewise::train {

struct StepRate {
  double learning_rate;
  double beta1;
};

/// Steps and epochs count from 0. With r the factor on the peak rate:
/// - constant: r = 1;
/// - cosine: r = m + (1 − m)·(1 + cos(π t / T))/2 over the T steps after warm-up, m = min_ratio;
/// - step: r = step_factor^c, c the number of entries of step_at ≤ epoch, or ⌊epoch / step_epochs⌋ if step_at
///   is empty;
/// - type1 (TSLib's): r = step_factor^max(0, epoch − 1), so the first two epochs use the peak rate;
/// - one_cycle: PyTorch's OneCycleLR with cosine annealing over the T steps after warm-up.
/// Linear warm-up in the first W = warmup_steps steps: (t + 1)/W of the rate of step or type1, else of the
/// peak.
class Schedule {
 public:
  /// `epoch_offset`: of SampleOrder.
  Schedule(const ScheduleConfig& config, const OptimizerConfig& optimizer, int64_t steps_per_epoch,
           int64_t total_steps, int64_t epoch_offset = 0);
  StepRate at(int64_t step) const;

 private:
  StepRate after_warmup(int64_t step) const;
  StepRate one_cycle(int64_t step) const;
  /// The number of reductions by schedule `step` before `epoch`.
  int64_t cuts_before(int64_t epoch) const;

  ScheduleConfig config_;
  double peak_, beta1_;
  int64_t steps_per_epoch_, total_steps_, epoch_offset_;
};

}  // namespace modewise::train
