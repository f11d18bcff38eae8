#include "modewise/nn/recompute.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <memory>
#include <utility>
#include <vector>

namespace modewise::nn {
namespace {

using BlockFunction = std::function<at::Tensor(const at::Tensor&)>;
using torch::autograd::variable_list;

/// Autograd node; not a torch::autograd::Function, whose arguments cannot be lists. Gradients of all
/// parameters flow through the graph, so that .grad and torch::autograd::grad both receive them.
struct RecomputedNode : torch::autograd::Node {
  RecomputedNode(const at::Tensor& x, variable_list trained, BlockFunction function)
      : input(x, /*is_output=*/false), parameters(std::move(trained)), block(std::move(function)) {}

  variable_list apply(variable_list&& grads) override {
    variable_list wanted{input.unpack().detach()};
    wanted[0].requires_grad_(true);
    wanted.insert(wanted.end(), parameters.begin(), parameters.end());
    if (!grads[0].defined()) return variable_list(wanted.size());
    const at::AutoGradMode with_grad(true);
    const at::Tensor out = block(wanted[0]);
    return torch::autograd::grad({out}, wanted, {grads[0]}, std::nullopt, false, /*allow_unused=*/true);
  }
  void release_variables() override { input.reset_data(); }
  std::string name() const override { return "Recomputed"; }

  torch::autograd::SavedVariable input;
  variable_list parameters;
  BlockFunction block;
};

}  // namespace

at::Tensor recomputed(const at::Tensor& x, const torch::nn::Module& module, BlockFunction block) {
  if (!at::GradMode::is_enabled()) return block(x);
  variable_list inputs{x};
  for (const at::Tensor& parameter : module.parameters())
    if (parameter.requires_grad()) inputs.push_back(parameter);
  if (inputs.size() == 1 && !x.requires_grad()) return block(x);
  at::Tensor out;
  {
    const at::NoGradGuard no_grad;
    out = block(x).detach();
  }
  const auto node = c10::make_intrusive<RecomputedNode>(x, variable_list(inputs.begin() + 1, inputs.end()),
                                                        std::move(block));
  node->set_next_edges(torch::autograd::collect_next_edges(inputs));
  torch::autograd::set_history(out, node);
  return out;
}

}  // namespace modewise::nn
