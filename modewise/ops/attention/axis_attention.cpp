// Modes before the axis join the batch and modes after it join the heads, both as views: [B, N_1 … N_k, H·d]
// is [B·before, N, behind·H·d], so nothing is permuted.

#include "modewise/ops/attention/axis_attention.h"

#include <ATen/TensorOperators.h>
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

constexpr auto kAxisAttention = "axis_attention";

void check_axis_attention_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                               int64_t mode, const std::optional<at::Tensor>& token_mask,
                               const std::optional<at::Tensor>& axis_mask, double dropout) {
  check_tokens(kAxisAttention, "q", q);
  check_mode(kAxisAttention, q, mode);
  check_heads(kAxisAttention, q, heads);
  for (const auto& [name, t] : {std::pair("k", k), std::pair("v", v)}) {
    check_same(kAxisAttention, name, t, "q", q);
    TORCH_CHECK_VALUE(t.sym_sizes() == q.sym_sizes(), kAxisAttention, ": ", name,
                      " must have the shape of q ", q.sym_sizes(), ", got ", t.sym_sizes());
  }
  check_token_mask(kAxisAttention, token_mask, q);
  check_dropout(kAxisAttention, dropout);
  if (!axis_mask) return;
  check_device(kAxisAttention, "axis_mask", *axis_mask, "q", q);
  const auto n = q.sym_size(mode + 1);
  TORCH_CHECK_VALUE(axis_mask->scalar_type() == at::kBool && axis_mask->dim() == 2 &&
                        axis_mask->sym_size(0) == n && axis_mask->sym_size(1) == n,
                    kAxisAttention, ": axis_mask must be bool [", n, ", ", n, "] for mode ", mode, " of q ",
                    q.sym_sizes(), ", got ", axis_mask->scalar_type(), " ", axis_mask->sym_sizes());
}

at::Tensor axis_attention_op(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                             int64_t mode, const std::optional<at::Tensor>& token_mask,
                             const std::optional<at::Tensor>& axis_mask, double dropout,
                             std::optional<int64_t> seed, int64_t step, int64_t site) {
  return axis_attention(q, k, v, heads, mode, token_mask, axis_mask, dropout,
                        dropout_key(kAxisAttention, seed, step, site));
}

}  // namespace

at::Tensor axis_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                          int64_t mode, const std::optional<at::Tensor>& token_mask,
                          const std::optional<at::Tensor>& axis_mask, double dropout, DropoutKey key) {
  check_axis_attention_args(q, k, v, heads, mode, token_mask, axis_mask, dropout);
  if (q.sym_numel() == 0) return q.add(k).add(v);  // empty, with gradients of all three
  c10::SymInt before = q.sym_size(0);
  int64_t behind = 1;
  for (int64_t i = 0; i < mode; ++i) before = before * q.sym_size(i + 1);
  for (int64_t i = mode + 1; i < q.dim() - 2; ++i) behind *= known_size(q, i + 1);
  const auto n = q.sym_size(mode + 1);
  const int64_t groups = behind * heads, width = known_size(q, -1) / heads;
  const auto rows = [&](const at::Tensor& t) { return t.reshape_symint({before, n, groups * width}); };
  if (!token_mask && !axis_mask && dropout == 0) {
    const auto by_head = [&](const at::Tensor& t) { return rows(t).unflatten(-1, {groups, width}); };
    return dot_product_attention(by_head(q), by_head(k), by_head(v), {}, false,
                                 1 / std::sqrt(static_cast<double>(width)))
        .reshape_symint(q.sym_sizes());
  }
  std::optional<at::Tensor> keys;
  auto key_tokens = k, values = v;
  if (token_mask) {
    // Weights of masked keys are exactly 0, but 0 times NaN is not: their values are zeroed too.
    const auto removed = token_mask->logical_not().unsqueeze(-1);
    key_tokens = k.masked_fill(removed, 0);
    values = v.masked_fill(removed, 0);
    keys = token_mask->reshape_symint({before, n, behind}).transpose(1, 2).repeat_interleave(heads, 1);
  }
  const auto scores = mode_scores(rows(q), rows(key_tokens), groups, keys, axis_mask);
  return mode_product(rows(values), dropout_add({}, scores, dropout, key), 0).reshape_symint(q.sym_sizes());
}

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "axis_attention(Tensor q, Tensor k, Tensor v, int heads, int mode, Tensor? token_mask=None, "
      "Tensor? axis_mask=None, float dropout=0., int? seed=0, int step=0, int site=0) -> Tensor");
}

TORCH_LIBRARY_IMPL(modewise, CompositeImplicitAutograd, m) {
  m.impl("axis_attention", axis_attention_op);
}

}  // namespace modewise::ops
