#include "modewise/ops/attention/full_attention.h"

#include <ATen/TensorOperators.h>
#include <torch/library.h>

#include <cmath>

#include "modewise/ops/arguments.h"
#include "modewise/ops/attention/weighted_values.h"
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
  const int64_t width = known_size(q, -1) / heads;
  const auto by_head = [&](const at::Tensor& t) { return t.unflatten(-1, {heads, width}); };
  if (keys) keys = keys->unsqueeze(1).unsqueeze(1);  // [B, 1, 1, m]
  return weighted_values(by_head(flat(q)), by_head(key_tokens), by_head(values), keys, causal,
                         {1 / std::sqrt(static_cast<double>(width)), dropout, key})
      .reshape_symint(q.sym_sizes());
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
