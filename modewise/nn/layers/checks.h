#pragma once
// Checks of arguments that modules share: heads, modes and padding masks. ValueErrors for wrong ones.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <optional>

#include "modewise/ops/arguments.h"

namespace modewise::nn {

/// The channels of a head, whose number must divide the width.
inline int64_t width_of_head(const char* module, int64_t width, int64_t heads) {
  TORCH_CHECK_VALUE(heads >= 1 && width % heads == 0, module, ": heads = ", heads, " must divide the width ",
                    width);
  return width / heads;
}

/// Tokens x [..., D] with 0 for NaN and infinities where the mask [...] is false: there they must not reach a
/// gradient, as 0 times NaN is NaN. Finite values stay.
inline at::Tensor valid_tokens(const char* module, const at::Tensor& x,
                               const std::optional<at::Tensor>& mask) {
  if (!mask) return x;
  ops::check_token_mask(module, mask, x);
  return x.masked_fill(x.isfinite().logical_or_(mask->unsqueeze(-1)).logical_not_(), 0);
}

/// x with 0 at all tokens under the mask, for results that depend on every token.
inline at::Tensor zeroed_tokens(const char* module, const at::Tensor& x,
                                const std::optional<at::Tensor>& mask) {
  if (!mask) return x;
  ops::check_token_mask(module, mask, x);
  return x.masked_fill(mask->logical_not().unsqueeze(-1), 0);
}

}  // namespace modewise::nn
