#pragma once
// Device of a module, and inputs moved to it.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace modewise::nn {

/// Device of the first parameter or buffer; the CPU for a module without any.
inline at::Device device_of(const torch::nn::Module& module) {
  for (const at::Tensor& parameter : module.parameters()) return parameter.device();
  for (const at::Tensor& buffer : module.buffers()) return buffer.device();
  return at::kCPU;
}

/// `x` on `device`; an undefined tensor stays undefined. The CPU waits for copies to it alone; those to CUDA
/// start from pinned memory.
inline at::Tensor placed(const at::Tensor& x, at::Device device) {
  if (!x.defined()) return x;
  const bool pinned = device.is_cuda() && x.device().is_cpu() && x.numel() > 0;
  return (pinned ? x.pin_memory() : x).to(device, /*non_blocking=*/!device.is_cpu());
}

}  // namespace modewise::nn
