#pragma once
// Watches the devices of all calls that go through libtorch's dispatcher, our operators' too. What runs on
// the `meta` device under a watch without a fault would run on any device: no tensor of it was left on the
// CPU.

#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/nn/module.h>

#include <string>
#include <vector>

namespace modewise {

/// While it lives, every tensor that a call of this thread takes or gives must be on `device`; CPU tensors
/// without dimensions excepted, which libtorch makes of numbers. One at a time.
class DeviceWatch {
 public:
  explicit DeviceWatch(at::Device device);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

  /// "aten::arange gives a tensor [7] on cpu", each once, in the order in which they came.
  const std::vector<std::string>& faults() const { return faults_; }
  /// Calls seen.
  int64_t calls() const { return calls_; }

  void saw(const std::string& call, bool gives, const at::Tensor& tensor);
  void count_call() { ++calls_; }

 private:
  at::Device device_;
  std::vector<std::string> faults_;
  int64_t calls_ = 0;
  c10::impl::IncludeDispatchKeyGuard included_;
};

/// Moves a module as Module::to does, which cannot give a CPU parameter a tensor of the meta device: each
/// parameter and buffer gets the other tensor's contents in place; what else a module holds it moves itself.
void move_module(torch::nn::Module& module, at::Device device);

}  // namespace modewise
