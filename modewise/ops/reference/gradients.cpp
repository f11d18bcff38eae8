#include "modewise/ops/reference/gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>

namespace modewise::ops::reference {
namespace {

/// Guard that enables autograd recording, below the autograd kernels too.
class Recording {
 public:
  Recording() : keys_(with_autograd(c10::impl::tls_local_dispatch_key_set())), grad_mode_(true) {}

 private:
  static c10::impl::LocalDispatchKeySet with_autograd(c10::impl::LocalDispatchKeySet keys) {
    keys.excluded_ = keys.excluded_ - c10::autograd_dispatch_keyset_with_ADInplaceOrView;
    return keys;
  }

  c10::impl::ForceDispatchKeyGuard keys_;
  at::AutoGradMode grad_mode_;
};

}  // namespace

Tensors gradients(const std::function<Tensors(const Tensors&)>& formula, const Tensors& inputs,
                  const Tensors& grads, std::vector<bool> wanted) {
  const Recording recording;
  Tensors leaves, asked;
  for (size_t i = 0; i < inputs.size(); ++i) {
    wanted[i] = wanted[i] && inputs[i].defined();
    leaves.push_back(inputs[i].defined() ? inputs[i].detach() : inputs[i]);
    if (wanted[i]) asked.push_back(leaves.back().requires_grad_());
  }
  if (!asked.empty())
    asked = torch::autograd::grad(formula(leaves), asked, grads, /*retain_graph=*/std::nullopt,
                                  /*create_graph=*/false, /*allow_unused=*/true);
  Tensors out;
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor found = wanted[i] ? asked[next++] : at::empty({0}, inputs[0].options());
    out.push_back(found.defined() ? found.contiguous() : at::zeros_like(inputs[i]));
  }
  return out;
}

Tensors gradients(const std::function<Tensors(const Tensors&)>& formula, const Tensors& inputs,
                  const Tensors& grads) {
  return gradients(formula, inputs, grads, std::vector<bool>(inputs.size(), true));
}

}  // namespace modewise::ops::reference
