#pragma once
// A running average of the weights, which is evaluated and kept instead of the weights themselves.

#include <vector>

#include "modewise/train/loop/task.h"

namespace modewise::train {

/// After step t (from 1): a ← d a + (1 − d) w with d = min(decay, (1 + t) / (10 + t)), so that the first
/// steps are forgotten soon. Begins as a copy of the weights. Other tensors of floating point are averaged
/// likewise: batch normalisation's statistics are those of the activations that the weights make, so that
/// averaged weights need averaged ones.
class WeightAverage {
 public:
  /// Of a task's trained() and tensors().
  WeightAverage(std::vector<NamedTensor> trained, std::vector<NamedTensor> tensors, double decay);

  void update(int64_t step);
  /// Exchanges average and weights; called twice around an evaluation.
  void swap();
  /// ema.NAME of each parameter and buffer; restored in place.
  std::vector<NamedTensor> state() const;

 private:
  std::vector<NamedTensor> weights_, average_;
  double decay_;
};

}  // namespace modewise::train
