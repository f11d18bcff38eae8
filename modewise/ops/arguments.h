#pragma once
// Argument checks shared by several operators. Sizes are read as SymInt, so that the same checks serve the
// symbolic shapes of torch.compile.

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <optional>

#include "modewise/ops/integer_arguments.h"

namespace modewise::ops {

/// Checks that x is a strided float32, float64 or bfloat16 tensor.
inline void check_floating(const char* op, const char* name, const at::Tensor& x) {
  TORCH_CHECK_VALUE(
      x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble || x.scalar_type() == at::kBFloat16, op,
      ": ", name, " must be float32, float64 or bfloat16, got ", x.scalar_type());
  TORCH_CHECK_VALUE(x.layout() == at::kStrided, op, ": ", name, " must be dense, got ", x.layout());
}

/// Checks that both tensors are on one device: operators never copy between devices.
inline void check_device(const char* op, const char* name, const at::Tensor& x, const char* other_name,
                         const at::Tensor& other) {
  TORCH_CHECK_VALUE(x.device() == other.device(), op, ": ", name, " must be on the device of ", other_name,
                    ", ", other.device(), ", got ", x.device());
}

/// Checks that both tensors have one dtype and one device.
inline void check_same(const char* op, const char* name, const at::Tensor& x, const char* other_name,
                       const at::Tensor& other) {
  TORCH_CHECK_VALUE(x.scalar_type() == other.scalar_type(), op, ": ", name, " must have the type of ",
                    other_name, ", ", other.scalar_type(), ", got ", x.scalar_type());
  check_device(op, name, x, other_name, other);
}

/// Checks that x is [B, N_1 … N_k, D] with k ≥ 1.
inline void check_tokens(const char* op, const char* name, const at::Tensor& x) {
  check_floating(op, name, x);
  TORCH_CHECK_VALUE(x.dim() >= 3, op, ": ", name, " must be [B, N_1 … N_k, D] with at least one mode, got ",
                    x.sym_sizes());
}

inline void check_mode(const char* op, const at::Tensor& x, int64_t mode) {
  TORCH_CHECK_VALUE(mode >= 0 && mode < x.dim() - 2, op, ": mode must be 0 … ", x.dim() - 3, " for x ",
                    x.sym_sizes(), ", got ", mode);
}

inline void check_heads(const char* op, const at::Tensor& x, int64_t heads) {
  TORCH_CHECK_VALUE(heads >= 1 && heads <= kMaxInteger && x.sym_size(-1) % heads == 0, op,
                    ": heads must divide the last size of x ", x.sym_sizes(), ", got ", heads);
}

/// Checks that token_mask is bool [B, N_1 … N_k] for x [B, N_1 … N_k, D].
inline void check_token_mask(const char* op, const std::optional<at::Tensor>& mask, const at::Tensor& x) {
  if (!mask) return;
  TORCH_CHECK_VALUE(mask->scalar_type() == at::kBool, op, ": token_mask must be bool, got ",
                    mask->scalar_type());
  check_device(op, "token_mask", *mask, "x", x);
  TORCH_CHECK_VALUE(mask->sym_sizes() == x.sym_sizes().slice(0, x.dim() - 1), op, ": token_mask must be ",
                    x.sym_sizes().slice(0, x.dim() - 1), " for x ", x.sym_sizes(), ", got ",
                    mask->sym_sizes());
}

inline void check_dropout(const char* op, double p) {
  TORCH_CHECK_VALUE(p >= 0 && p <= 1, op, ": the dropout rate must be in [0, 1], got ", p);
}

/// Size as an integer; under torch.compile the graph is specialised to it.
inline int64_t known_size(const at::Tensor& x, int64_t dim) {
  return x.sym_size(dim).guard_int(__FILE__, __LINE__);
}

/// std::nullopt for an undefined tensor, for schemas with `Tensor?`.
inline std::optional<at::Tensor> optional(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace modewise::ops
