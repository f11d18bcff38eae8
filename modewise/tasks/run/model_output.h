#pragma once
// Output and attention of a model on any device, from inputs on the CPU to results on the CPU.

#include <ATen/core/Tensor.h>

#include "modewise/models/attention_view.h"
#include "modewise/nn/layers/device.h"

namespace modewise::tasks {

template <class Model, class Input>
at::Tensor output_of(Model& model, const Input& input) {
  return model.forward(input.to(nn::device_of(model))).to(at::kCPU);
}

template <class Model, class Input>
models::AttentionView attention_of(Model& model, const Input& input) {
  return model.attention(input.to(nn::device_of(model))).to(at::kCPU);
}

}  // namespace modewise::tasks
