#pragma once
// The operators behind feed_forward, and their argument checks.

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>
#include <tuple>

#include "modewise/ops/dense/feed_forward.h"

namespace modewise::ops {

void check_feed_forward_args(const at::Tensor& x, const FeedForwardWeights& weights, double p);
void check_feed_forward_backward_args(const at::Tensor& grad, const at::Tensor& x,
                                      const std::optional<at::Tensor>& kept,
                                      const FeedForwardWeights& weights, double p);

inline FeedForwardWeights feed_forward_weights(const at::Tensor& first, const at::Tensor& second,
                                               const std::optional<at::Tensor>& gate,
                                               const std::optional<at::Tensor>& first_bias,
                                               const std::optional<at::Tensor>& second_bias) {
  return {first, second, gate.value_or(at::Tensor()), first_bias.value_or(at::Tensor()),
          second_bias.value_or(at::Tensor())};
}

/// (result, what the gradient needs of it: gate x beside first x + first_bias [..., 2M], or the latter alone
/// [..., M]).
std::tuple<at::Tensor, at::Tensor> feed_forward_kept(const at::Tensor& x, const FeedForwardWeights& weights,
                                                     double p, DropoutKey key);

/// Of x, first, second, gate, first_bias and second_bias, in this order.
using FeedForwardGradients =
    std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;
using FeedForwardWanted = std::array<bool, 6>;

/// Gradients from grad [..., N]; those not wanted are empty. Those of weights are as the weights. Where
/// `kept` is undefined, it is computed again, with the first bias; the second is never needed.
FeedForwardGradients feed_forward_backward(const at::Tensor& grad, const at::Tensor& x,
                                           const at::Tensor& kept, const FeedForwardWeights& weights,
                                           double p, DropoutKey key, FeedForwardWanted wanted);

}  // namespace modewise::ops
