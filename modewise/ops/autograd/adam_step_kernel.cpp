// Not differentiable: updates run in no-grad mode. The tensors are marked as modified in place, so that a
// backward that still needs the old values raises an error.

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
