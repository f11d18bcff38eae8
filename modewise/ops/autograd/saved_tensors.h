#pragma once
// What the backward of an operator keeps of an argument: the tensor, or in recompute mode the node that made
// it, where that can make it again for little. A node runs backward after all who used its results, so that
// what it keeps itself is still there when they ask.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <typeindex>

namespace modewise::ops {

using torch::autograd::AutogradContext;

/// How nodes of one type make their results again.
struct Maker {
  /// Products of many rows that it takes to make result `output`; none where it cannot be made.
  std::optional<int> (*products)(AutogradContext& context, int64_t output);
  at::Tensor (*make)(AutogradContext& context);
  AutogradContext& (*context)(torch::autograd::Node& node);
};

void register_maker(std::type_index node, Maker maker);

/// A static one registers `Function`, a torch::autograd::Function with the static members `products` and
/// `make` of a Maker. No tensor is made by more than one product.
template <class Function>
struct Recomputable {
  Recomputable() {
    using Node = torch::autograd::CppNode<Function>;
    register_maker(typeid(Node),
                   {.products = Function::products, .make = Function::make, .context = [](auto& node) -> auto& {
                     return static_cast<Node&>(node).ctx_;
  }});
}  // namespace modewise::ops
}
;

/// For save_for_backward: x, or undefined where `context` remembers its maker as `name` instead.
at::Tensor keep(AutogradContext& context, const char* name, const at::Tensor& x);
/// The tensor of `keep`, given what it returned.
at::Tensor kept(AutogradContext& context, const char* name, const at::Tensor& saved);
/// Products that `kept` takes.
int products_of(const AutogradContext& context, const char* name);
/// Whether `context` remembers a maker as `name`.
bool has_maker(const AutogradContext& context, const char* name);

}  // namespace modewise::ops
