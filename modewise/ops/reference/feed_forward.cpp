#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

std::tuple<at::Tensor, at::Tensor> feed_forward(const at::Tensor& x, const FeedForwardWeights& weights,
                                                double p, DropoutKey key) {
  const auto type = x.scalar_type();
  auto kept = reference::linear(x, weights.first, optional(weights.first_bias));
  if (weights.gate.defined()) kept = at::cat({reference::linear(x, weights.gate, {}), kept}, -1);
  auto hidden = weights.gate.defined() ? swiglu(kept) : at::gelu(kept.to(accumulate_type(type))).to(type);
  if (p > 0) hidden = dropout_add({}, hidden, p, key);
  return {reference::linear(hidden, weights.second, optional(weights.second_bias)), kept};
}

}  // namespace modewise::ops::reference
