#pragma once
// Moves a module to a device.

#include <c10/core/Device.h>
#include <torch/nn/module.h>

namespace modewise::nn {

/// Base of modules that compute on the CPU whatever the device of their input.
class CpuModule {
 protected:
  CpuModule() = default;
  ~CpuModule() = default;
};

/// Moves parameters, buffers and other members to `device`, in place, from and to any type of device; those
/// of a CpuModule stay.
void move_module(torch::nn::Module& module, at::Device device);

}  // namespace modewise::nn
