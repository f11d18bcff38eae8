#pragma once
// What attention over a sequence in heads, [B, n, H, d], asks of its arguments and its mask.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>

#include <optional>

#include "modewise/ops/arguments.h"

namespace modewise::ops {

/// q [B, n, H, d], v [B, n, H, e], token_mask bool [B, n].
inline void check_heads_of_tokens(const char* op, const at::Tensor& q, const at::Tensor& v,
                                  const std::optional<at::Tensor>& token_mask) {
  check_floating(op, "q", q);
  TORCH_CHECK_VALUE(q.dim() == 4, op, ": q must be [B, n, H, d], got ", q.sym_sizes());
  check_same(op, "v", v, "q", q);
  TORCH_CHECK_VALUE(v.dim() == 4 && v.sym_sizes().slice(0, 3) == q.sym_sizes().slice(0, 3), op,
                    ": v must be [", q.sym_size(0), ", ", q.sym_size(1), ", ", q.sym_size(2), ", e] for q ",
                    q.sym_sizes(), ", got ", v.sym_sizes());
  if (!token_mask) return;
  check_device(op, "token_mask", *token_mask, "q", q);
  TORCH_CHECK_VALUE(
      token_mask->scalar_type() == at::kBool && token_mask->sym_sizes() == q.sym_sizes().slice(0, 2), op,
      ": token_mask must be bool [", q.sym_size(0), ", ", q.sym_size(1), "] for q ", q.sym_sizes(), ", got ",
      token_mask->scalar_type(), " ", token_mask->sym_sizes());
}

/// The tokens that count. A sample of which none does keeps all of its tokens, so that no softmax is empty.
struct KeptTokens {
  at::Tensor some;                   // [B or 1, n] bool, with at least one token a sample
  std::optional<at::Tensor> others;  // [B, n, 1, 1]

  KeptTokens(const at::Tensor& q, const std::optional<at::Tensor>& token_mask) {
    if (!token_mask) {
      some = at::ones({1, known_size(q, 1)}, q.options().dtype(at::kBool));
      return;
    }
    some = token_mask->logical_or(token_mask->any(-1, true).logical_not());
    others = token_mask->logical_not().unsqueeze(-1).unsqueeze(-1);
  }
  /// x [B, n, H, d] with zeros under the tokens that do not count: 0 times NaN would not be 0.
  at::Tensor without_others(const at::Tensor& x) const { return others ? x.masked_fill(*others, 0) : x; }
};

}  // namespace modewise::ops
