#pragma once
// Classifier interface of all families (images, volumes, series): a module from a batch of samples, with a
// mask for padding or missing values, to class logits.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "modewise/models/attention_view.h"
#include "modewise/nn/layers/device.h"

namespace modewise::models {

/// A batch of B samples; the shape depends on the family.
struct ClassifierInput {
  at::Tensor values;  // [B, …]; values at missing cells are ignored
  at::Tensor valid;   // bool mask, same shape without channels or variables; undefined: all valid

  ClassifierInput to(at::Device device) const {
    return {nn::placed(values, device), nn::placed(valid, device)};
  }
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
