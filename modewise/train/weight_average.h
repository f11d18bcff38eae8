#pragma once
// A running average of the weights, which is evaluated and kept instead of the weights themselves.

#include <span>

#include "modewise/train/task.h"

namespace modewise::train {

/// After step t (from 1): a ← d a + (1 − d) w with d = min(decay, (1 + t) / (10 + t)), so that the first
/// steps are forgotten soon. Begins as a copy of the weights. Buffers are not averaged.
class WeightAverage {
 public:
  WeightAverage(std::vector<NamedTensor> parameters, double decay);

  void update(int64_t step);
  /// Exchanges average and weights; called twice around an evaluation.
  void swap();
  /// ema.<parameter>; restored in place.
  std::vector<NamedTensor> state() const;

 private:
  std::vector<NamedTensor> parameters_, average_;
  double decay_;
};

}  // namespace modewise::train
