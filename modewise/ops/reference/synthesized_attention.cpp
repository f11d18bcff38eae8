#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor synthesized_attention(const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
                                 const std::optional<at::Tensor>& key_mask, bool causal) {
  const auto wide = accumulate_type(v.scalar_type());
  const int64_t m = v.size(1);
  const auto heads_first = [&](const at::Tensor& x) { return x.to(wide).transpose(1, 2); };
  at::Tensor z = at::zeros({1, v.size(2), rows, m}, v.options().dtype(wide));
  if (logits.left.defined())
    z = z + at::matmul(heads_first(logits.left), heads_first(logits.right).transpose(-1, -2));
  if (logits.outer.defined()) {
    const auto outer = logits.outer.to(wide).unsqueeze(2).unsqueeze(4);  // [H, α, 1, β, 1]
    const auto inner = logits.inner.to(wide).unsqueeze(1).unsqueeze(3);  // [H, 1, α', 1, β']
    z = z + (outer * inner).flatten(3, 4).flatten(1, 2).narrow(1, 0, rows).narrow(2, 0, m).unsqueeze(0);
  }
  auto kept = at::ones({1, 1, rows, m}, v.options().dtype(at::kBool));
  if (key_mask) kept = kept.logical_and(key_mask->unsqueeze(1).unsqueeze(1));
  if (causal) kept = kept.tril();
  const auto none = at::zeros({}, z.options());
  z = at::where(kept, z, none - std::numeric_limits<double>::infinity());
  const auto any = kept.any(-1, true);
  const auto weights = at::where(any, at::softmax(at::where(any, z, none), -1), none);
  return at::matmul(weights, heads_first(v)).transpose(1, 2).to(v.scalar_type()).contiguous();
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> synthesized_attention_backward(
    const at::Tensor& grad, const at::Tensor& v, const SynthesizedLogits& logits, int64_t rows,
    const std::optional<at::Tensor>& key_mask, bool causal) {
  const auto out = gradients(
      [&](const Tensors& in) -> Tensors {
        return {
            reference::synthesized_attention(in[0], {in[1], in[2], in[3], in[4]}, rows, key_mask, causal)};
      },
      {v, logits.left, logits.right, logits.outer, logits.inner}, {grad});
  return {out[0], out[1], out[2], out[3], out[4]};
}

}  // namespace modewise::ops::reference
