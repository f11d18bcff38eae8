#include "modewise/ops/attention/weighted_values.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>

#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/dot_product_attention.h"
#include "modewise/ops/attention/softmax.h"
#include "modewise/ops/dense/matmul.h"
#include "modewise/ops/training/dropout_add.h"

namespace modewise::ops {
namespace {

at::Tensor dropped_values(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const std::optional<at::Tensor>& seen, const SoftmaxOptions& softmax_options) {
  const at::ScalarType type = accumulate_type(q.scalar_type());
  const int64_t heads = known_size(q, 2);
  const auto heads_first = [&](const at::Tensor& x) {
    const int64_t repeats = heads / known_size(x, 2);
    return (repeats == 1 ? x : x.repeat_interleave(repeats, 2)).transpose(1, 2);
  };
  at::Tensor logits = ops::matmul(heads_first(q).to(type), heads_first(k).to(type).transpose(-1, -2));
  logits = logits * softmax_options.scale;
  if (seen) logits = logits.masked_fill(seen->logical_not(), -std::numeric_limits<double>::infinity());
  const at::Tensor weights =
      dropout_add({}, ops::softmax(logits), softmax_options.dropout, softmax_options.key);
  return ops::matmul(weights, heads_first(v).to(type)).transpose(1, 2).to(v.scalar_type()).contiguous();
}

}  // namespace

at::Tensor weighted_values(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const std::optional<at::Tensor>& kept, bool causal,
                           const SoftmaxOptions& softmax_options) {
  std::optional<at::Tensor> seen, none;
  if (kept) {
    // A row without any key attends to all keys here and is set to 0 below.
    none = kept->any(-1, true).logical_not();
    seen = kept->logical_or(*none);
  }
  at::Tensor out;
  if (softmax_options.dropout == 0) {
    out = dot_product_attention(q, k, v, seen, causal, softmax_options.scale);
  } else {
    if (causal) {
      const int64_t n = known_size(q, 1);
      seen = at::ones({n, n}, q.options().dtype(at::kBool)).tril();
    }
    out = dropped_values(q, k, v, seen, softmax_options);
  }
  return none ? out.masked_fill(none->transpose(1, 2), 0) : out;
}

}  // namespace modewise::ops
