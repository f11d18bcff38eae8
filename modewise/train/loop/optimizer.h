#pragma once
// Adam and AdamW optimizers over a list of parameters.

#include <span>

#include "modewise/train/loop/schedule.h"
#include "modewise/train/loop/task.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::train {

/// m ← β1 m + (1 − β1) g; v ← β2 v + (1 − β2) g²; w ← w − η / (1 − β1^t) · m / (√v / √(1 − β2^t) + ε), with
/// the formulas and order of torch.optim (ops/training/adam_step.h). adamw first multiplies w by 1 − ηλ; adam
/// adds λ w to g. Parameters with at most one dimension do not decay unless decay_norms. Elementwise, hence
/// the same bits for any number of threads. A parameter without gradient is unchanged, without decay too.
class Optimizer {
 public:
  /// `parameters` are contiguous float32 or float64 tensors with unique names; moments are on their device.
  /// `rate_factors` multiply the learning rate per parameter; empty: 1.
  Optimizer(std::vector<NamedTensor> parameters, const OptimizerConfig& config,
            std::vector<double> rate_factors = {});

  /// One step with every gradient multiplied by `gradient_scale` (clipping).
  void step(const StepRate& rate, double gradient_scale = 1.0);
  /// Clears the gradients.
  void clear_gradients();

  std::span<const NamedTensor> parameters() const { return parameters_; }
  /// Optimizer state: first_moment.<parameter> and second_moment.<parameter>; loaded in place.
  std::vector<NamedTensor> state() const;
  int64_t steps_made() const { return steps_made_; }
  void set_steps_made(int64_t steps) { steps_made_ = steps; }

 private:
  OptimizerConfig config_;
  std::vector<NamedTensor> parameters_;
  std::vector<double> rate_factors_;
  std::vector<at::Tensor> first_moments_, second_moments_;
  int64_t steps_made_ = 0;
};

}  // namespace modewise::train
