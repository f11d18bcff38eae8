#include "modewise/train/loop/gradient_hooks.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>
#include <utility>

namespace modewise::train {
namespace {

struct Hook final : torch::autograd::PostAccumulateGradHook {
  Hook(const std::function<void(size_t)>& f, size_t i) : ready(f), index(i) {}
  void operator()(const at::Tensor& /*tensor*/) override { ready(index); }

  const std::function<void(size_t)>& ready;
  size_t index;
};

}  // namespace

GradientHooks::GradientHooks(const std::vector<NamedTensor>& tensors, std::function<void(size_t)> ready)
    : tensors_(tensors), ready_(std::move(ready)) {
  for (size_t i = 0; i < tensors_.size(); ++i)
    torch::autograd::impl::set_post_acc_grad_hooks(tensors_[i].tensor, std::make_unique<Hook>(ready_, i));
}

GradientHooks::~GradientHooks() {
  for (const NamedTensor& one : tensors_) torch::autograd::impl::set_post_acc_grad_hooks(one.tensor, nullptr);
}

}  // namespace modewise::train
