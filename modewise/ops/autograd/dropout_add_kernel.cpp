// Backward generates the same random numbers again: it saves nothing except the node that made x, if that can
// recompute it.

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/autograd/saved_tensors.h"
#include "modewise/ops/training/dropout_add.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor call(const std::optional<at::Tensor>& residual, const at::Tensor& x, double p,
                const DropoutKey& key) {
  const auto out = dropout_add(residual.value_or(at::Tensor()), x, p, key);
  return out.is_same(x) ? x.clone() : out;
}

struct DropoutAdd : torch::autograd::Function<DropoutAdd> {
  static at::Tensor forward(AutogradContext* context, const std::optional<at::Tensor>& residual,
                            const at::Tensor& x, double p, int64_t seed, int64_t step, int64_t site) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->saved_data["added"] = residual.has_value();
    context->saved_data["p"] = p;
    if (!residual) keep(*context, "x", x);
    context->saved_data["residual"] = residual.has_value() && residual->defined();
    context->saved_data["key"] = std::vector<int64_t>{seed, step, site};
    return call(residual, x, p, dropout_key("dropout_add", seed, step, site));
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto key = context->saved_data["key"].toIntVector();
    return {context->saved_data["residual"].toBool() ? grads[0] : at::Tensor(),
            dropout_add({}, grads[0], context->saved_data["p"].toDouble(),
                        dropout_key("dropout_add", key[0], key[1], key[2])),
            {},
            {},
            {},
            {}};
  }
  static std::optional<int> products(AutogradContext& context, int64_t) {
    return has_maker(context, "x") ? std::optional(products_of(context, "x")) : std::nullopt;
  }
  static at::Tensor make(AutogradContext& context) {
    const auto key = context.saved_data["key"].toIntVector();
    return dropout_add({}, kept(context, "x", {}), context.saved_data["p"].toDouble(),
                       dropout_key("dropout_add", key[0], key[1], key[2]));
  }
};
const Recomputable<DropoutAdd> dropout_add_recomputable;

at::Tensor dropout_add_autograd(const std::optional<at::Tensor>& residual, const at::Tensor& x, double p,
                                int64_t seed, int64_t step, int64_t site) {
  check_dropout_add_args(residual, x, p);
  return DropoutAdd::apply(residual, x, p, seed, step, site);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("dropout_add", dropout_add_autograd);
}

}  // namespace modewise::ops
