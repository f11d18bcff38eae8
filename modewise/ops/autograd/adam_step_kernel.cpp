// Not differentiable: an update is made where gradients are off. What it changes counts as changed, so that a
// backward that still needs the old values says so.

#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

namespace modewise::ops {

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("adam_step", torch::autograd::autogradNotImplementedFallback());
}

TORCH_LIBRARY_IMPL(modewise, ADInplaceOrView, m) {
  m.impl("adam_step", torch::autograd::autogradNotImplementedInplaceOrViewFallback());
}

}  // namespace modewise::ops
