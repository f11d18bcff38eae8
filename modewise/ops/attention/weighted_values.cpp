#include "modewise/ops/attention/weighted_values.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <cmath>
#include <limits>
#include <vector>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/dot_product_attention.h"
#include "modewise/ops/attention/mode_scores.h"
#include "modewise/ops/attention/seen_keys.h"
#include "modewise/ops/attention/softmax.h"
#include "modewise/ops/autograd/recomputed_attention.h"
#include "modewise/ops/dense/matmul.h"
#include "modewise/ops/dense/mode_product.h"
#include "modewise/ops/reference/strip_rows.h"
#include "modewise/ops/training/dropout_add.h"

namespace modewise::ops {
namespace {

using Mask = std::optional<at::Tensor>;

/// x [B, m, G, d] for each of `heads` heads.
at::Tensor for_heads(const at::Tensor& x, int64_t heads) {
  const int64_t repeats = heads / known_size(x, 2);
  return repeats == 1 ? x : x.repeat_interleave(repeats, 2);
}

/// softmax(scale · q kᵀ) [B, H, n, m] with a mask of keys, [1 or B, 1 or H, 1, m]: by the fused kernel of
/// mode attention.
at::Tensor weights_of_keys(const at::Tensor& q, const at::Tensor& k, const Mask& kept, bool causal,
                           const QueryStrip& strip, double scale) {
  const int64_t heads = known_size(q, 2), batch = known_size(q, 0);
  Mask keys;
  if (kept) {
    keys = kept->squeeze(2).narrow(-1, 0, strip.keys);
    keys = known_size(*keys, 1) == 1 ? keys->squeeze(1).expand({batch, strip.keys})
                                     : keys->expand({batch, heads, strip.keys});
  }
  const double own_scale = 1 / std::sqrt(static_cast<double>(known_size(q, 3)));  // of the kernel
  const at::Tensor queries = scale == own_scale ? q : q * (scale / own_scale);
  return mode_scores(queries.flatten(2), for_heads(k, heads).flatten(2), heads, keys,
                     seen_keys({}, causal, strip, q.options()));
}

/// The same with any mask, [1 or B, 1 or H, n, m].
at::Tensor weights_of_pairs(const at::Tensor& q, const at::Tensor& k, const Mask& kept, bool causal,
                            const QueryStrip& strip, double scale) {
  const at::ScalarType type = accumulate_type(q.scalar_type());
  const auto heads_first = [&](const at::Tensor& x) {
    return for_heads(x, known_size(q, 2)).transpose(1, 2).to(type);
  };
  const at::Tensor seen = *seen_keys(kept, causal, strip, q.options());
  // A row without any key attends to all keys here and is set to 0 below.
  const at::Tensor none = seen.any(-1, true).logical_not();
  const at::Tensor logits = ops::matmul(heads_first(q), heads_first(k).transpose(-1, -2)) * scale;
  const at::Tensor hidden =
      logits.masked_fill(seen.logical_or(none).logical_not(), -std::numeric_limits<double>::infinity());
  return ops::softmax(hidden).masked_fill(none, 0).to(q.scalar_type());
}

at::Tensor dropped_values(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& kept,
                          bool causal, const QueryStrip& strip, const SoftmaxOptions& softmax_options) {
  const bool of_keys = !kept || known_size(*kept, 2) == 1;
  const at::Tensor weights = of_keys ? weights_of_keys(q, k, kept, causal, strip, softmax_options.scale)
                                     : weights_of_pairs(q, k, kept, causal, strip, softmax_options.scale);
  const int64_t heads = known_size(q, 2);
  return mode_product(for_heads(v, heads).flatten(2),
                      dropout_add({}, weights, softmax_options.dropout, softmax_options.key), 0)
      .unflatten(2, {heads, known_size(v, 3)});
}

}  // namespace

DropoutKey key_of_rows(DropoutKey key, int64_t first) {
  key.seed += static_cast<uint64_t>(first) * 0xD1342543DE82EF95;
  return key;
}

at::Tensor weighted_values(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& kept,
                           bool causal, const SoftmaxOptions& softmax_options) {
  if (softmax_options.dropout == 0)
    return dot_product_attention(q, k, v, kept, causal, softmax_options.scale);
  const int64_t n = known_size(q, 1), m = known_size(k, 1), width = known_size(q, 0) * known_size(q, 2) * m;
  // The numbers of torch's generator cannot be drawn again.
  if (softmax_options.key.by_generator || n <= reference::strip_rows(width))
    return dropped_values(q, k, v, kept, causal, {0, n, m}, softmax_options);
  std::vector<at::Tensor> out;
  reference::for_strips(n, width, [&](int64_t first, int64_t rows) {
    const int64_t keys = causal ? first + rows : m;
    SoftmaxOptions own = softmax_options;
    own.key = key_of_rows(own.key, first);
    out.push_back(recomputed_attention(
        q.narrow(1, first, rows), k.narrow(1, 0, keys), v.narrow(1, 0, keys),
        [=](const at::Tensor& queries, const at::Tensor& few_keys, const at::Tensor& values) {
          return dropped_values(queries, few_keys, values, kept, causal, {first, rows, keys}, own);
        }));
  });
  return at::cat(out, 1);
}

}  // namespace modewise::ops
