// Without dropout: dot_product_attention, which never materialises all scores. With dropout: scores, softmax,
// dropout and product.

#include "modewise/ops/attention/full_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <torch/library.h>

#include <cmath>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/dot_product_attention.h"
#include "modewise/ops/attention/mode_scores.h"
#include "modewise/ops/dense/mode_product.h"
#include "modewise/ops/training/dropout_add.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {

namespace {

constexpr auto kFullAttention = "full_attention";

void check_full_attention_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                               const std::optional<at::Tensor>& token_mask, double dropout, bool causal) {
  check_tokens(kFullAttention, "q", q);
  check_heads(kFullAttention, q, heads);
  check_tokens(kFullAttention, "k", k);
  check_same(kFullAttention, "k", k, "q", q);
  TORCH_CHECK_VALUE(k.sym_size(0) == q.sym_size(0) && k.sym_size(-1) == q.sym_size(-1), kFullAttention,
                    ": k must be [", q.sym_size(0), ", M_1 … M_j, ", q.sym_size(-1), "] for q ",
                    q.sym_sizes(), ", got ", k.sym_sizes());
  check_same(kFullAttention, "v", v, "q", q);
  TORCH_CHECK_VALUE(v.sym_sizes() == k.sym_sizes(), kFullAttention, ": v must have the shape of k ",
                    k.sym_sizes(), ", got ", v.sym_sizes());
  check_token_mask(kFullAttention, token_mask, k);
  check_dropout(kFullAttention, dropout);
  TORCH_CHECK_VALUE(!causal || q.sym_sizes() == k.sym_sizes(), kFullAttention,
                    ": causal needs as many keys as queries, got k ", k.sym_sizes(), " for q ",
                    q.sym_sizes());
}

/// Causal mask [n, n] bool: token i attends to tokens j ≤ i.
at::Tensor earlier(int64_t n, at::Device device) {
  return at::ones({n, n}, at::TensorOptions().dtype(at::kBool).device(device)).tril();
}

at::Tensor full_attention_op(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                             const std::optional<at::Tensor>& token_mask, double dropout,
                             std::optional<int64_t> seed, int64_t step, int64_t site, bool causal) {
  return full_attention(q, k, v, heads, token_mask, dropout, dropout_key(kFullAttention, seed, step, site),
                        causal);
}

}  // namespace

at::Tensor full_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                          const std::optional<at::Tensor>& token_mask, double dropout, DropoutKey key,
                          bool causal) {
  check_full_attention_args(q, k, v, heads, token_mask, dropout, causal);
  const auto flat = [](const at::Tensor& t) { return t.flatten(1, -2); };
  std::optional<at::Tensor> keys;
  auto key_tokens = flat(k), values = flat(v);
  if (token_mask) {
    // Weights of masked keys are exactly 0, but 0 times NaN is not: their values are zeroed too.
    keys = token_mask->flatten(1);
    const auto removed = keys->logical_not().unsqueeze(-1);
    key_tokens = key_tokens.masked_fill(removed, 0);
    values = values.masked_fill(removed, 0);
  }
  at::Tensor out;
  if (dropout > 0) {
    std::optional<at::Tensor> seen;
    if (causal) seen = earlier(known_size(key_tokens, 1), q.device());
    const auto scores = mode_scores(flat(q), key_tokens, heads, keys, seen);
    out = mode_product(values, dropout_add({}, scores, dropout, key), 0);
  } else {
    const int64_t width = known_size(q, -1) / heads;
    const auto by_head = [&](const at::Tensor& t) { return t.unflatten(-1, {heads, width}); };
    std::optional<at::Tensor> mask, none;
    if (keys) {
      at::Tensor kept = keys->unsqueeze(1);  // [B, 1 or n, m]
      if (causal) kept = kept.logical_and(earlier(known_size(key_tokens, 1), q.device()));
      // A row without any key attends to all keys here and is set to 0 below.
      none = kept.any(-1, true).logical_not();
      mask = kept.logical_or(*none).unsqueeze(1);
    }
    out = dot_product_attention(by_head(flat(q)), by_head(key_tokens), by_head(values), mask, causal && !keys,
                                1 / std::sqrt(static_cast<double>(width)))
              .flatten(-2);
    if (none) out = out.masked_fill(*none, 0);
  }
  return out.reshape_symint(q.sym_sizes());
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "full_attention(Tensor q, Tensor k, Tensor v, int heads, Tensor? token_mask=None, float dropout=0., "
      "int? seed=0, "
      "int step=0, int site=0, bool causal=False) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, CompositeImplicitAutograd, m) {
  m.impl("full_attention", full_attention_op);
}

}  // namespace modewise::ops
