// Not differentiable: generation runs in no-grad mode.

#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

namespace modewise::ops {

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("summary_step", torch::autograd::autogradNotImplementedFallback());
  m.impl("summary_join", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
