#pragma once
// Exponential moving average (EMA) of the weights, evaluated and saved in place of the weights.

#include <vector>

#include "modewise/train/loop/task.h"

namespace modewise::train {

/// After step t (from 1): a ← d a + (1 − d) w with d = min(decay, (1 + t) / (10 + t)), so that the first
/// steps decay quickly. Initially a copy of the weights. Other floating-point tensors are averaged likewise:
/// averaged weights need averaged batch normalisation statistics.
class WeightAverage {
 public:
  /// From a task's trained() and tensors().
  WeightAverage(std::vector<NamedTensor> trained, std::vector<NamedTensor> tensors, double decay);

  void update(int64_t step);
  /// Swaps average and weights; called before and after an evaluation.
  void swap();
  /// State: ema.NAME of each parameter and buffer; loaded in place.
  std::vector<NamedTensor> state() const;

 private:
  std::vector<NamedTensor> weights_, average_;
  double decay_;
};

}  // namespace modewise::train
