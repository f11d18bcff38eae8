#include "modewise/ops/cuda/dot_product_attention.h"

#include <ATen/ops/scaled_dot_product_attention.h>

#include "modewise/ops/attention/seen_keys.h"
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
  const auto attended = [&](const Mask& kept, bool earlier) {
    return at::scaled_dot_product_attention(heads_first(q), heads_first(k), heads_first(v), kept,
                                            /*dropout_p=*/0, earlier, scale);
  };
  if (!mask) return attended({}, causal).transpose(1, 2).contiguous();
  // libtorch takes one of both masks, and no row without any key: it attends to all here and is set to 0.
  const at::Tensor seen = *seen_keys(mask, causal, {0, q.size(1), k.size(1)}, q.options());
  const at::Tensor none = seen.any(-1, true).logical_not();
  return attended(seen.logical_or(none), false).masked_fill(none, 0).transpose(1, 2).contiguous();
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
