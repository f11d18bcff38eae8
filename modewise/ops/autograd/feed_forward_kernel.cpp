// First order only. Saves the pre-activations, or in recompute mode only x; the hidden activations are
// recomputed from either.

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "modewise/ops/autograd/saved_tensors.h"
#include "modewise/ops/dense/feed_forward_checks.h"
#include "modewise/ops/training/dropout_add_checks.h"
#include "modewise/ops/training/recompute_mode.h"

namespace modewise::ops {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Maybe = std::optional<at::Tensor>;

struct FeedForward : torch::autograd::Function<FeedForward> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& first,
                            const at::Tensor& second, const Maybe& gate, const Maybe& first_bias,
                            const Maybe& second_bias, double p, int64_t seed, int64_t step, int64_t site) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const auto weights = feed_forward_weights(first, second, gate, first_bias, second_bias);
    const auto key = dropout_key("feed_forward", seed, step, site);
    at::Tensor out, maps;
    if (recompute_mode())
      out = feed_forward(x, weights, p, key);
    else
      std::tie(out, maps) = feed_forward_kept(x, weights, p, key);
    context->save_for_backward(
        {keep(*context, "x", x), first, second, weights.gate, maps, weights.first_bias});
    context->saved_data["second_bias"] = weights.second_bias.defined();
    context->saved_data["p"] = p;
    context->saved_data["key"] = std::vector<int64_t>{seed, step, site};
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const bool given[] = {true,
                          true,
                          true,
                          saved[3].defined(),
                          saved[5].defined(),
                          context->saved_data["second_bias"].toBool()};
    FeedForwardWanted wanted = {};
    size_t edge = 0;  // undefined tensors have none
    for (size_t i = 0; i < wanted.size(); ++i)
      if (given[i]) wanted[i] = context->needs_input_grad(edge++);
    const auto key = context->saved_data["key"].toIntVector();
    auto [x, first, second, gate, first_bias, second_bias] = feed_forward_backward(
        grads[0], kept(*context, "x", saved[0]), saved[4], {saved[1], saved[2], saved[3], saved[5], {}},
        context->saved_data["p"].toDouble(), dropout_key("feed_forward", key[0], key[1], key[2]), wanted);
    variable_list out = {x, first, second, gate, first_bias, second_bias, {}, {}, {}, {}};
    for (size_t i = 0; i < wanted.size(); ++i)
      if (!wanted[i]) out[i] = at::Tensor();
    return out;
  }
};

at::Tensor feed_forward_autograd(const at::Tensor& x, const at::Tensor& first, const at::Tensor& second,
                                 const Maybe& gate, const Maybe& first_bias, const Maybe& second_bias,
                                 double p, int64_t seed, int64_t step, int64_t site) {
  const auto weights = feed_forward_weights(first, second, gate, first_bias, second_bias);
  check_feed_forward_args(x, weights, p);
  bool wanted = false, forward_mode = false;
  for (const at::Tensor& tensor : {x, first, second, weights.gate, weights.first_bias, weights.second_bias}) {
    wanted = wanted || (tensor.defined() && tensor.requires_grad());
    forward_mode = forward_mode || (tensor.defined() && tensor._fw_grad(0).defined());
  }
  if (forward_mode || (wanted && at::GradMode::is_enabled()))  // forward mode: apply raises
    return FeedForward::apply(x, first, second, gate, first_bias, second_bias, p, seed, step, site);
  const at::AutoDispatchBelowADInplaceOrView below;  // nothing is saved
  return feed_forward(x, weights, p, dropout_key("feed_forward", seed, step, site));
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, Autograd, m) {
  m.impl("feed_forward", feed_forward_autograd);
  m.impl("feed_forward_kept", torch::autograd::autogradNotImplementedFallback());
  m.impl("feed_forward_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace modewise::ops
