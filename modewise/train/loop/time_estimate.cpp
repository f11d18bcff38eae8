#include "modewise/train/loop/time_estimate.h"

#include <fmt/format.h>

#include "modewise/core/progress.h"

namespace modewise::train {
namespace {

constexpr int64_t kFewestSteps = 3, kEnoughSteps = 20;
constexpr double kEnoughSeconds = 1;

std::string about(double seconds) {
  return seconds < 1 ? "less than 1 s" : "about " + duration_text(seconds);
}

}  // namespace

std::string TimeEstimate::add(double seconds, int64_t done) {
  if (said_) return "";
  if (!warm_) {
    warm_ = true;
    return "";
  }
  ++counted_;
  seconds_ += seconds;
  const bool enough = counted_ >= kEnoughSteps || (counted_ >= kFewestSteps && seconds_ >= kEnoughSeconds);
  if (!enough || done >= total_steps_) return "";
  said_ = true;
  const double step = seconds_ / static_cast<double>(counted_);
  return fmt::format(
      "{} per epoch, {} for the remaining {} steps{} (estimated from {} steps, without evaluations)",
      about(step * static_cast<double>(steps_per_epoch_)),
      about(step * static_cast<double>(total_steps_ - done)), total_steps_ - done,
      may_stop_early_ ? " unless it stops early" : "", counted_);
}

}  // namespace modewise::train
