#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>

#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor dot_product_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const std::optional<at::Tensor>& mask, bool causal, double scale) {
  const auto wide = accumulate_type(q.scalar_type());
  const auto heads_first = [&](const at::Tensor& x) {
    return x.to(wide).repeat_interleave(q.size(2) / x.size(2), 2).transpose(1, 2);
  };
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  auto logits = at::matmul(heads_first(q), heads_first(k).transpose(-1, -2)) * scale;
  if (mask) logits = logits.masked_fill(mask->logical_not(), kHidden);
  if (causal) {
    const auto later = at::ones({q.size(1), k.size(1)}, q.options().dtype(at::kBool)).triu(1);
    logits = logits.masked_fill(later, kHidden);
  }
  const auto out = at::matmul(at::softmax(logits, -1), heads_first(v));
  return out.transpose(1, 2).to(q.scalar_type()).contiguous();
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> dot_product_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& mask, bool causal, double scale) {
  const auto out = gradients(
      [&](const Tensors& in) -> Tensors {
        return {reference::dot_product_attention(in[0], in[1], in[2], mask, causal, scale)};
      },
      {q, k, v}, {grad});
  return {out[0], out[1], out[2]};
}

}  // namespace modewise::ops::reference
