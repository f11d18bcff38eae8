#pragma once
// Checks the devices of all calls through libtorch's dispatcher, including our operators. Code that runs on
// the `meta` device under a watch without faults runs on any device: no tensor was left on the CPU.

#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <string>
#include <vector>

namespace modewise {

/// During its lifetime every argument and result tensor of calls in this thread must be on `device`, except
/// CPU scalars, which libtorch makes of numbers. One at a time.
class DeviceWatch {
 public:
  explicit DeviceWatch(at::Device device);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

  /// "aten::arange gives a tensor [7] on cpu", without duplicates, in order of occurrence.
  const std::vector<std::string>& faults() const { return faults_; }
  /// Number of observed calls.
  int64_t calls() const { return calls_; }

  void saw(const std::string& call, bool gives, const at::Tensor& tensor);
  void count_call() { ++calls_; }

 private:
  at::Device device_;
  std::vector<std::string> faults_;
  int64_t calls_ = 0;
  c10::impl::IncludeDispatchKeyGuard included_;
};

}  // namespace modewise
