#pragma once
// Dropout with counter-based random numbers keyed by seed, step and site in the model: any thread may draw
// any of them, and no mask is kept for the backward pass.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "modewise/nn/initializer.h"
#include "modewise/ops/training/dropout_key.h"

namespace modewise::nn {

class Dropout : public torch::nn::Module {
 public:
  Dropout(Initializer& init, double probability);

  /// dropout(x); x itself in evaluation.
  at::Tensor forward(const at::Tensor& x) const;
  /// residual + dropout(x)
  at::Tensor add_to(const at::Tensor& residual, const at::Tensor& x) const;

  /// The probability in effect: 0 in evaluation. For operators with fused dropout.
  double active_probability() const { return is_training() ? probability_ : 0.0; }
  const ops::DropoutKey& key() const { return key_; }
  void set_step(uint64_t seed, uint64_t step);

 private:
  double probability_;
  ops::DropoutKey key_;
};

/// Sets seed and step of every dropout under `root`, and the step of every random-feature draw. Call it
/// before each forward pass in training.
void set_dropout_step(torch::nn::Module& root, uint64_t seed, uint64_t step);

}  // namespace modewise::nn
