#pragma once
// Constant tensor of a module, derived from its options (such as a table of positions): moves between devices
// with the module, and is not saved.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace modewise::nn {

/// A child module without parameters or buffers, so that it is not part of the state. Casting the module does
/// not change its dtype.
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
