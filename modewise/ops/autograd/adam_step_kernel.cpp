// Not differentiable: updates run in no-grad mode.

#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

namespace modewise::ops {

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("adam_step", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
