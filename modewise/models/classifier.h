#pragma once
// What every classifier is, of volumes as of series: a module from a batch of samples, with a mask where some
// are smaller or hold missing values, to the classes' logits.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "modewise/models/attention_view.h"

namespace modewise::models {

/// B samples; the family says their shape.
struct ClassifierInput {
  at::Tensor values;  // [B, …]; what stands under a missing value does not matter
  at::Tensor valid;   // bool, the same shape without channels or variables; undefined when nothing is missing
};

class Classifier : public torch::nn::Module {
 public:
  explicit Classifier(int64_t classes) : classes_(classes) {}

  /// [B, K] logits, float32 (float64 for a float64 module).
  virtual at::Tensor forward(const ClassifierInput& input) = 0;
  virtual AttentionView attention(const ClassifierInput& /*input*/) { return {}; }

  int64_t classes() const { return classes_; }

 private:
  int64_t classes_;
};

}  // namespace modewise::models
