#pragma once
// Estimate of the time per epoch and of the remaining training time, reported once, from the first steps.

#include <cstdint>
#include <string>

namespace modewise::train {

class TimeEstimate {
 public:
  TimeEstimate(int64_t steps_per_epoch, int64_t total_steps, bool may_stop_early)
      : steps_per_epoch_(steps_per_epoch), total_steps_(total_steps), may_stop_early_(may_stop_early) {}

  /// Records a step of `seconds`; `done` steps are done in total. Ignores the first step (warm-up). Returns
  /// the estimate once, after 3 more steps of at least one second together or after 20 more; otherwise "".
  std::string add(double seconds, int64_t done);

 private:
  int64_t steps_per_epoch_, total_steps_;
  bool may_stop_early_, warm_ = false, said_ = false;
  int64_t counted_ = 0;
  double seconds_ = 0;
};

}  // namespace modewise::train
