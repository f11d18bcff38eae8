#include "modewise/ops/cuda/dot_product_attention.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "modewise/ops/reference/gradients.h"

namespace modewise::ops::cuda {
namespace {

using Mask = std::optional<at::Tensor>;

at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask,
                  bool causal, double scale) {
  const auto heads_first = [&](const at::Tensor& x) {
    const int64_t repeats = q.size(2) / x.size(2);
    return (repeats == 1 ? x : x.repeat_interleave(repeats, 2)).transpose(1, 2);
  };
  Mask kept = mask;
  if (mask && causal)  // libtorch takes one of both
    kept = mask->logical_and(at::ones({q.size(1), k.size(1)}, mask->options()).tril());
  const at::Tensor out =
      at::scaled_dot_product_attention(heads_first(q), heads_first(k), heads_first(v), kept,
                                       /*dropout_p=*/0, causal && !mask, scale);
  return out.transpose(1, 2).contiguous();
}

}  // namespace

at::Tensor dot_product_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const Mask& mask, bool causal, double scale) {
  return attend(q, k, v, mask, causal, scale);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> dot_product_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask,
    bool causal, double scale) {
  const auto out = reference::gradients(
      [&](const reference::Tensors& in) -> reference::Tensors {
        return {attend(in[0], in[1], in[2], mask, causal, scale)};
      },
      {q, k, v}, {grad});
  return {out[0], out[1], out[2]};
}

}  // namespace modewise::ops::cuda
