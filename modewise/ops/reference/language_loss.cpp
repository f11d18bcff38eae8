#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor token_losses(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets) {
  const auto type = accumulate_type(hidden.scalar_type());
  const auto logits = at::matmul(hidden.to(type), head.to(type).t());
  const auto own = targets.clamp_min(0).unsqueeze(-1);
  return at::log_softmax(logits, -1).gather(-1, own).squeeze(-1).neg().masked_fill(targets.lt(0), 0);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> language_loss(const at::Tensor& hidden, const at::Tensor& head,
                                                             const at::Tensor& targets, bool hidden_wanted,
                                                             bool head_wanted) {
  const auto type = accumulate_type(hidden.scalar_type());
  const auto rows = hidden.to(type).reshape({-1, head.size(1)}), weight = head.to(type);
  const auto own = targets.flatten().unsqueeze(-1), some = own.ge(0);
  const auto counted = some.sum().clamp_min(1);
  const auto loss = token_losses(hidden, head, targets).sum() / counted;
  const auto scores = at::softmax(at::matmul(rows, weight.t()), -1);
  const auto slope = scores.scatter_add(-1, own.clamp_min(0), at::full_like(scores.narrow(-1, 0, 1), -1)) *
                     (some.to(type) / counted);
  const auto or_none = [](bool wanted, const at::Tensor& gradient, const at::Tensor& like) {
    return wanted ? gradient.to(like.scalar_type()).view(like.sizes()) : at::empty({0}, like.options());
  };
  return {loss, or_none(hidden_wanted, at::matmul(slope, weight), hidden),
          or_none(head_wanted, at::matmul(slope.t(), rows), head)};
}

}  // namespace modewise::ops::reference
