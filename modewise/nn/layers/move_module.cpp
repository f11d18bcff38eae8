#include "modewise/nn/layers/move_module.h"

#include <ATen/core/grad_mode.h>

namespace modewise::nn {

void move_module(torch::nn::Module& module, at::Device device) {
  const at::NoGradGuard no_grad;
  // Module::to refuses devices whose tensors differ in type from those of the CPU.
  const auto move = [&](const at::Tensor& tensor) {
    if (tensor.device() != device)
      tensor.unsafeGetTensorImpl()->shallow_copy_from(tensor.detach().to(device).getIntrusivePtr());
  };
  module.apply([&](torch::nn::Module& part) {
    if (dynamic_cast<const CpuModule*>(&part) != nullptr) return;
    const auto parameters = part.parameters(/*recurse=*/false), buffers = part.buffers(/*recurse=*/false);
    for (const at::Tensor& parameter : parameters) move(parameter);
    for (const at::Tensor& buffer : buffers) move(buffer);
    if (parameters.empty() && buffers.empty() && part.children().empty()) part.to(device);
  });
}

}  // namespace modewise::nn
