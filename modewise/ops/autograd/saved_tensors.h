#pragma once
// Saved tensors for backward: the tensor itself, or in recompute mode the autograd node that made it, if it
// can recompute it cheaply. A node runs backward after all users of its results, so that its own saved
// tensors still exist when they recompute.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <typeindex>

namespace modewise::ops {

using torch::autograd::AutogradContext;

/// Recomputation functions of one node type.
struct Maker {
  /// Number of large matrix products needed to recompute result `output`; none if it cannot be recomputed.
  std::optional<int> (*products)(AutogradContext& context, int64_t output);
  at::Tensor (*make)(AutogradContext& context);
  AutogradContext& (*context)(torch::autograd::Node& node);
};

void register_maker(std::type_index node, Maker maker);

/// Registers `Function`, a torch::autograd::Function with the static members `products` and `make` of a
/// Maker, when a static object is constructed. No tensor is recomputed by more than one product.
template <class Function>
struct Recomputable {
  Recomputable() {
    using Node = torch::autograd::CppNode<Function>;
    const auto context_of = [](torch::autograd::Node& node) -> AutogradContext& {
      return static_cast<Node&>(node).ctx_;
    };
    register_maker(typeid(Node),
                   {.products = Function::products, .make = Function::make, .context = context_of});
  }
};

/// Argument for save_for_backward: x, or undefined where `context` records its maker as `name` instead.
at::Tensor keep(AutogradContext& context, const char* name, const at::Tensor& x);
/// The saved or recomputed tensor; `saved` is the result of `keep`.
at::Tensor kept(AutogradContext& context, const char* name, const at::Tensor& saved);
/// Number of large products that `kept` computes.
int products_of(const AutogradContext& context, const char* name);
/// Whether `context` records a maker as `name`.
bool has_maker(const AutogradContext& context, const char* name);

}  // namespace modewise::ops
