#pragma once
// Argument checks and padding mask of attention over a sequence in heads, [B, n, H, d].

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>

#include <optional>

#include "modewise/ops/arguments.h"

namespace modewise::ops {

/// Checks q [B, n, H, d], v [B, n, H, e] and token_mask bool [B, n].
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

/// Padding mask of the tokens. A fully masked sample keeps all of its tokens, so that no softmax is empty.
struct KeptTokens {
  at::Tensor some;                   // [B or 1, n] bool: valid tokens, at least one per sample
  std::optional<at::Tensor> others;  // [B, n, 1, 1]: masked tokens

  KeptTokens(const at::Tensor& q, const std::optional<at::Tensor>& token_mask) {
    if (!token_mask) {
      some = at::ones({1, known_size(q, 1)}, q.options().dtype(at::kBool));
      return;
    }
    some = token_mask->logical_or(token_mask->any(-1, true).logical_not());
    others = token_mask->logical_not().unsqueeze(-1).unsqueeze(-1);
  }
  /// Zeroes masked tokens of x [B, n, H, d], because 0 times NaN would not be 0.
  at::Tensor without_others(const at::Tensor& x) const { return others ? x.masked_fill(*others, 0) : x; }
};

}  // namespace modewise::ops
