#pragma once
// About how long an epoch and the rest of a training take, said once, from the first steps' times.

#include <cstdint>
#include <string>

namespace modewise::train {

class TimeEstimate {
 public:
  TimeEstimate(int64_t steps_per_epoch, int64_t total_steps, bool may_stop_early)
      : steps_per_epoch_(steps_per_epoch), total_steps_(total_steps), may_stop_early_(may_stop_early) {}

  /// A step took `seconds`, and `done` are made in all. The first one, which fills caches, is not counted;
  /// the sentence comes after 3 more that took a second together, or after 20 more. Otherwise "".
  std::string add(double seconds, int64_t done);

 private:
  int64_t steps_per_epoch_, total_steps_;
  bool may_stop_early_, warm_ = false, said_ = false;
  int64_t counted_ = 0;
  double seconds_ = 0;
};

}  // namespace modewise::train
