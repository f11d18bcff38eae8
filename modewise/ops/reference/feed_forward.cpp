#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/zeros.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

namespace {

/// Hidden activations [.., M] from the pre-activations.
at::Tensor hidden_of(const at::Tensor& kept, bool gated, double p, DropoutKey key) {
  const auto type = kept.scalar_type();
  const auto hidden = gated ? swiglu(kept) : at::gelu(kept.to(accumulate_type(type))).to(type);
  return p > 0 ? dropout_add({}, hidden, p, key) : hidden;
}

/// Pre-activations of x: [.., M], or [.., 2M] with a gate.
at::Tensor maps_of(const at::Tensor& x, const FeedForwardWeights& weights) {
  const auto first = reference::linear(x, weights.first, optional(weights.first_bias));
  return weights.gate.defined() ? at::cat({reference::linear(x, weights.gate, {}), first}, -1) : first;
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> feed_forward(const at::Tensor& x, const FeedForwardWeights& weights,
                                                double p, DropoutKey key) {
  const auto kept = maps_of(x, weights);
  return {reference::linear(hidden_of(kept, weights.gate.defined(), p, key), weights.second,
                            optional(weights.second_bias)),
          kept};
}

FeedForwardGradients feed_forward_backward(const at::Tensor& grad, const at::Tensor& x,
                                           const at::Tensor& kept, const FeedForwardWeights& weights,
                                           double p, DropoutKey key, FeedForwardWanted wanted) {
  const bool gated = weights.gate.defined();
  const auto [x_wanted, first_wanted, second_wanted, gate_wanted, first_bias_wanted, second_bias_wanted] =
      wanted;
  const auto zeros = [&](int64_t size) { return at::zeros({size}, weights.first.options()); };
  const auto behind = gradients(
      [&](const Tensors& in) -> Tensors {
        return {reference::linear(hidden_of(in[0], gated, p, key), in[1], in[2])};
      },
      {kept.defined() ? kept : maps_of(x, weights), weights.second, zeros(weights.second.size(0))}, {grad},
      {true, second_wanted, second_bias_wanted});
  const auto in_front = gradients(
      [&](const Tensors& in) -> Tensors {
        const auto maps = reference::linear(in[0], in[1], in[3]);
        return {gated ? at::cat({reference::linear(in[0], in[2], {}), maps}, -1) : maps};
      },
      {x, weights.first, weights.gate, zeros(weights.first.size(0))}, {behind[0]},
      {x_wanted, first_wanted, gate_wanted, first_bias_wanted});
  return {in_front[0], in_front[1], behind[1], in_front[2], in_front[3], behind[2]};
}

}  // namespace modewise::ops::reference
