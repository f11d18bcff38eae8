#include "modewise/train/loop/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "modewise/core/error.h"

namespace modewise::train {
namespace {

/// Cosine annealing from `start` (part 0) to `end` (part 1).
double cosine_between(double start, double end, double part) {
  return end + (start - end) / 2.0 * (1.0 + std::cos(std::numbers::pi * part));
}

constexpr double kHighMomentum = 0.95, kLowMomentum = 0.85;  // PyTorch's defaults for OneCycleLR

}  // namespace

Schedule::Schedule(const ScheduleConfig& config, const OptimizerConfig& optimizer, int64_t steps_per_epoch,
                   int64_t total_steps, int64_t epoch_offset)
    : config_(config),
      peak_(optimizer.learning_rate),
      beta1_(optimizer.betas.at(0)),
      steps_per_epoch_(std::max<int64_t>(steps_per_epoch, 1)),
      total_steps_(total_steps),
      epoch_offset_(epoch_offset) {}

StepRate Schedule::at(int64_t step) const {
  const int64_t warmup = config_.warmup_steps;
  if (step >= warmup) return after_warmup(step);
  const bool by_epoch = config_.name == "step" || config_.name == "type1";
  const double rate = by_epoch ? after_warmup(step).learning_rate : peak_;
  return {rate * static_cast<double>(step + 1) / static_cast<double>(warmup), beta1_};
}

StepRate Schedule::after_warmup(int64_t step) const {
  const int64_t epoch = (step + epoch_offset_) / steps_per_epoch_;
  if (config_.name == "constant") return {peak_, beta1_};
  if (config_.name == "cosine") {
    const double length = static_cast<double>(std::max<int64_t>(total_steps_ - config_.warmup_steps, 1));
    const double part = std::min(1.0, static_cast<double>(step - config_.warmup_steps) / length);
    return {cosine_between(peak_, peak_ * config_.min_ratio, part), beta1_};
  }
  if (config_.name == "step")
    return {peak_ * std::pow(config_.step_factor, static_cast<double>(cuts_before(epoch))), beta1_};
  if (config_.name == "type1")
    return {peak_ * std::pow(config_.step_factor, static_cast<double>(std::max<int64_t>(epoch - 1, 0))),
            beta1_};
  if (config_.name == "one_cycle") return one_cycle(step - config_.warmup_steps);
  fail(ErrorKind::config, "unknown schedule '{}'", config_.name);
}

int64_t Schedule::cuts_before(int64_t epoch) const {
  const std::vector<int64_t>& cuts = config_.step_at;
  if (cuts.empty()) return epoch / config_.step_epochs;
  return std::count_if(cuts.begin(), cuts.end(), [&](int64_t cut) { return cut <= epoch; });
}

StepRate Schedule::one_cycle(int64_t step) const {
  const double total = static_cast<double>(std::max<int64_t>(total_steps_ - config_.warmup_steps, 1));
  const double t = static_cast<double>(step);
  const double top = config_.peak_at * total - 1.0, last = total - 1.0;
  const double first_rate = peak_ / config_.start_divisor;
  const double low = config_.cycle_momentum ? kLowMomentum : beta1_;
  const double high = config_.cycle_momentum ? kHighMomentum : beta1_;
  if (t <= top) {
    const double part = top > 0 ? t / top : 1.0;
    return {cosine_between(first_rate, peak_, part), cosine_between(high, low, part)};
  }
  const double begin = std::max(top, 0.0);
  const double part = last > begin ? std::min(1.0, (t - begin) / (last - begin)) : 0.0;
  return {cosine_between(peak_, first_rate / config_.end_divisor, part), cosine_between(low, high, part)};
}

}  // namespace modewise::train
