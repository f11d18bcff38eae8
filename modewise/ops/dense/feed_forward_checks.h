#pragma once
// Forward and backward operators of feed_forward, and their argument checks.

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

/// (result, pre-activations saved for backward: gate x and first x + first_bias side by side [..., 2M], or
/// only the latter [..., M]).
std::tuple<at::Tensor, at::Tensor> feed_forward_kept(const at::Tensor& x, const FeedForwardWeights& weights,
                                                     double p, DropoutKey key);

/// Gradients of x, first, second, gate, first_bias and second_bias, in this order.
using FeedForwardGradients =
    std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;
using FeedForwardWanted = std::array<bool, 6>;

/// Gradients from grad [..., N]; empty where not requested. Those of weights have the dtype of the weights.
/// If `kept` is undefined it is recomputed with the first bias; the second bias is never needed.
FeedForwardGradients feed_forward_backward(const at::Tensor& grad, const at::Tensor& x,
                                           const at::Tensor& kept, const FeedForwardWeights& weights,
                                           double p, DropoutKey key, FeedForwardWanted wanted);

}  // namespace modewise::ops
