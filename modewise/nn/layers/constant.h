#pragma once
// A tensor that follows from a module's options, such as a table of positions: it goes with the module from
// device to device, and is in no file.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace modewise::nn {

/// A child that has neither parameters nor buffers, so that states and files do not know it. Its type stays
/// as it is, whatever the module's weights become.
class Constant : public torch::nn::Module {
 public:
  explicit Constant(at::Tensor value) : value_(std::move(value)) {}

  const at::Tensor& value() const { return value_; }

  void to(at::Device device, at::ScalarType type, bool non_blocking) override;
  void to(at::ScalarType type, bool non_blocking) override;
  void to(at::Device device, bool non_blocking) override;

 private:
  at::Tensor value_;
};

}  // namespace modewise::nn
