#include "modewise/nn/recompute.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <memory>
#include <utility>
#include <vector>

namespace modewise::nn {
namespace {

using Block = std::function<at::Tensor(const at::Tensor&)>;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The block in the context of a node; autograd keeps custom classes, not functions.
struct BlockHolder : torch::CustomClassHolder {
  BlockHolder(Block function, std::vector<at::Tensor> wanted)
      : block(std::move(function)), parameters(std::move(wanted)) {}
  Block block;
  std::vector<at::Tensor> parameters;
};

struct Recomputed : torch::autograd::Function<Recomputed> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::vector<at::Tensor>& parameters, const Block& block) {
    context->save_for_backward({x});
    context->saved_data["block"] =
        c10::IValue::make_capsule(c10::make_intrusive<BlockHolder>(block, parameters));
    return block(x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto capsule = context->saved_data["block"].toCapsule();
    const auto& holder = static_cast<const BlockHolder&>(*capsule);
    const at::AutoGradMode with_grad(true);
    const at::Tensor x = context->get_saved_variables()[0].detach().requires_grad_(true);
    variable_list wanted{x};
    wanted.insert(wanted.end(), holder.parameters.begin(), holder.parameters.end());
    const at::Tensor out = holder.block(x);
    variable_list gradients =
        torch::autograd::grad({out}, wanted, {grads[0]}, std::nullopt, false, /*allow_unused=*/true);
    gradients.emplace_back();  // of the function itself
    return gradients;
  }
};

}  // namespace

at::Tensor recomputed(const at::Tensor& x, const torch::nn::Module& module, Block block) {
  if (!at::GradMode::is_enabled()) return block(x);
  std::vector<at::Tensor> trained;
  for (const at::Tensor& parameter : module.parameters())
    if (parameter.requires_grad()) trained.push_back(parameter);
  if (trained.empty() && !x.requires_grad()) return block(x);
  return Recomputed::apply(x, trained, block);
}

}  // namespace modewise::nn
