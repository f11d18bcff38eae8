// mode_product is bilinear in x and the factor, and its gradients are mode products and contractions, so that
// these two rules give derivatives of any order.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/arguments.h"
#include "modewise/ops/autograd/saved_tensors.h"
#include "modewise/ops/dense/mode_product.h"
#include "modewise/ops/dense/mode_product_checks.h"
#include "modewise/ops/training/recompute_mode.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Products along longer modes are not recomputed.
constexpr int64_t kShortMode = 64;

struct ModeProduct : torch::autograd::Function<ModeProduct> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& factor,
                            int64_t mode) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({keep(*context, "x", x), keep(*context, "factor", factor)});
    context->saved_data["mode"] = mode;
    context->saved_data["heads"] = factor.dim() == 2 ? int64_t{0} : known_size(factor, 1);
    context->saved_data["type"] = factor.scalar_type();
    context->saved_data["short"] = recompute_mode() && known_size(x, mode + 1) <= kShortMode;
    return mode_product(x, factor, mode);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const int64_t mode = context->saved_data["mode"].toInt();
    at::Tensor grad_x, grad_factor;
    if (grads[0].defined() && context->needs_input_grad(0))
      grad_x = mode_product(grads[0], kept(*context, "factor", saved[1]).transpose(-1, -2), mode);
    if (grads[0].defined() && context->needs_input_grad(1))
      grad_factor =
          mode_contract(grads[0], kept(*context, "x", saved[0]), mode, context->saved_data["heads"].toInt())
              .to(context->saved_data["type"].toScalarType());
    return {grad_x, grad_factor, {}};
  }
  static std::optional<int> products(AutogradContext& context, int64_t) {
    if (!context.saved_data["short"].toBool()) return std::nullopt;
    return products_of(context, "x") + 1;
  }
  static at::Tensor make(AutogradContext& context) {
    const auto saved = context.get_saved_variables();
    return mode_product(kept(context, "x", saved[0]), kept(context, "factor", saved[1]),
                        context.saved_data["mode"].toInt());
  }
};
const Recomputable<ModeProduct> mode_product_recomputable;

struct ModeContract : torch::autograd::Function<ModeContract> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& a, const at::Tensor& x, int64_t mode,
                            int64_t heads) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({a, x});
    context->saved_data["mode"] = mode;
    return mode_contract(a, x, mode, heads);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const int64_t mode = context->saved_data["mode"].toInt();
    at::Tensor grad_a, grad_x;
    if (grads[0].defined() && context->needs_input_grad(0)) grad_a = mode_product(saved[1], grads[0], mode);
    if (grads[0].defined() && context->needs_input_grad(1))
      grad_x = mode_product(saved[0], grads[0].transpose(-1, -2), mode);
    return {grad_a, grad_x, {}, {}};
  }
};

at::Tensor mode_product_autograd(const at::Tensor& x, const at::Tensor& factor, int64_t mode) {
  check_mode_product_args(x, factor, mode);
  return ModeProduct::apply(x, factor, mode);
}

at::Tensor mode_contract_autograd(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads) {
  check_mode_contract_args(a, x, mode, heads);
  return ModeContract::apply(a, x, mode, heads);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("mode_product", mode_product_autograd);
  m.impl("mode_contract", mode_contract_autograd);
}

}  // namespace modewise::ops
