// In strips of queries, whose scores have a bounded size; the backward pass computes each strip again.

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/attention/seen_keys.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/reference/strip_rows.h"

namespace modewise::ops::reference {

namespace {

using Mask = std::optional<at::Tensor>;

/// Calls body(strip) for each strip of queries.
template <class Body>
void for_queries(const at::Tensor& q, const at::Tensor& k, bool causal, const Body& body) {
  const int64_t m = k.size(1);
  for_strips(q.size(1), q.size(0) * q.size(2) * m, [&](int64_t first, int64_t count) {
    body(QueryStrip{first, count, causal ? first + count : m});
  });
}

/// q, k and v of a strip in the accumulate type -> [B, rows, H, e].
at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask,
                  bool causal, double scale, const QueryStrip& strip) {
  const auto heads_first = [&](const at::Tensor& x) {
    return x.repeat_interleave(q.size(2) / x.size(2), 2).transpose(1, 2);
  };
  auto logits = at::matmul(heads_first(q), heads_first(k).transpose(-1, -2)) * scale;
  const Mask seen = seen_keys(mask, causal, strip, q.options());
  if (!seen) return at::matmul(at::softmax(logits, -1), heads_first(v)).transpose(1, 2);
  // A row without any key attends to all keys here and is set to 0 below.
  const auto none = seen->any(-1, true).logical_not();
  logits = logits.masked_fill(seen->logical_or(none).logical_not(), -std::numeric_limits<double>::infinity());
  return at::matmul(at::softmax(logits, -1), heads_first(v)).masked_fill(none, 0).transpose(1, 2);
}

}  // namespace

at::Tensor dot_product_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const Mask& mask, bool causal, double scale) {
  const auto type = accumulate_type(q.scalar_type());
  const auto keys = k.to(type), values = v.to(type);
  Tensors out = {at::zeros({q.size(0), 0, q.size(2), v.size(3)}, q.options())};
  for_queries(q, k, causal, [&](const QueryStrip& strip) {
    out.push_back(attend(q.narrow(1, strip.first, strip.rows).to(type), keys.narrow(1, 0, strip.keys),
                         values.narrow(1, 0, strip.keys), mask, causal, scale, strip)
                      .to(q.scalar_type()));
  });
  return at::cat(out, 1);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> dot_product_attention_backward(
    const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask,
    bool causal, double scale) {
  const auto type = accumulate_type(q.scalar_type());
  const auto keys = k.to(type), values = v.to(type);
  const auto of_k = at::zeros(k.sizes(), keys.options()), of_v = at::zeros(v.sizes(), keys.options());
  Tensors of_q = {at::zeros({q.size(0), 0, q.size(2), q.size(3)}, q.options())};
  for_queries(q, k, causal, [&](const QueryStrip& strip) {
    const Tensors out = gradients(
        [&](const Tensors& in) -> Tensors {
          return {attend(in[0], in[1], in[2], mask, causal, scale, strip)};
        },
        {q.narrow(1, strip.first, strip.rows).to(type), keys.narrow(1, 0, strip.keys),
         values.narrow(1, 0, strip.keys)},
        {grad.narrow(1, strip.first, strip.rows).to(type)});
    of_q.push_back(out[0].to(q.scalar_type()));
    of_k.narrow(1, 0, strip.keys).add_(out[1]);
    of_v.narrow(1, 0, strip.keys).add_(out[2]);
  });
  return {at::cat(of_q, 1), of_k.to(k.scalar_type()), of_v.to(v.scalar_type())};
}

}  // namespace modewise::ops::reference
