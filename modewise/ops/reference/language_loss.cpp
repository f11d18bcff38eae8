// In strips of tokens, whose logits have a bounded size.

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/reference/strip_rows.h"

namespace modewise::ops::reference {

namespace {

/// Calls body(rows [tokens, D], targets [tokens, 1]) for each strip of tokens, in the accumulate type.
template <class Body>
void for_tokens(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                const Body& body) {
  const auto rows = hidden.reshape({-1, head.size(1)}), own = targets.reshape({-1, 1});
  for_strips(rows.size(0), head.size(0), [&](int64_t first, int64_t count) {
    body(rows.narrow(0, first, count).to(accumulate_type(hidden.scalar_type())), own.narrow(0, first, count));
  });
}

at::Tensor log_probabilities(const at::Tensor& rows, const at::Tensor& weight) {
  return at::log_softmax(at::matmul(rows, weight.t()), -1);
}

/// −log probability of each target, 0 for targets below 0.
at::Tensor losses_of(const at::Tensor& log_probabilities, const at::Tensor& own) {
  return log_probabilities.gather(-1, own.clamp_min(0)).neg().masked_fill(own.lt(0), 0);
}

}  // namespace

at::Tensor token_losses(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets) {
  const auto weight = head.to(accumulate_type(hidden.scalar_type()));
  Tensors losses = {at::zeros({0, 1}, weight.options())};
  for_tokens(hidden, head, targets, [&](const at::Tensor& rows, const at::Tensor& own) {
    losses.push_back(losses_of(log_probabilities(rows, weight), own));
  });
  return at::cat(losses).view(targets.sizes());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> language_loss(const at::Tensor& hidden, const at::Tensor& head,
                                                             const at::Tensor& targets, bool hidden_wanted,
                                                             bool head_wanted) {
  const auto weight = head.to(accumulate_type(hidden.scalar_type()));
  const auto counted = targets.ge(0).sum().clamp_min(1);
  Tensors of_hidden = {at::zeros({0, head.size(1)}, hidden.options())};
  at::Tensor loss = at::zeros({}, weight.options()), of_head = at::zeros({0}, weight.options());
  if (head_wanted) of_head = at::zeros(head.sizes(), weight.options());
  for_tokens(hidden, head, targets, [&](const at::Tensor& rows, const at::Tensor& own) {
    const auto logs = log_probabilities(rows, weight);
    loss = loss + losses_of(logs, own).sum();
    if (!hidden_wanted && !head_wanted) return;
    const auto slope =
        logs.exp().scatter_add(-1, own.clamp_min(0), at::full_like(logs.narrow(-1, 0, 1), -1)) *
        (own.ge(0).to(weight.dtype()) / counted);
    if (hidden_wanted) of_hidden.push_back(at::matmul(slope, weight).to(hidden.scalar_type()));
    if (head_wanted) of_head.add_(at::matmul(slope.t(), rows));
  });
  return {loss / counted,
          hidden_wanted ? at::cat(of_hidden).view(hidden.sizes()) : at::empty({0}, hidden.options()),
          of_head.to(head.scalar_type())};
}

}  // namespace modewise::ops::reference
