#pragma once
// Masks of attention for strips of queries.

#include <ATen/core/Tensor.h>

#include <optional>

namespace modewise::ops {

/// Queries [first, first + rows) and the first `keys` keys.
struct QueryStrip {
  int64_t first, rows, keys;
};

/// Keys that the strip's queries may attend to: its part of `mask` (bool, broadcasts to [B, H, n, m]) and,
/// with `causal`, the keys up to the query itself; nothing if they see all. Made with `options`' device.
std::optional<at::Tensor> seen_keys(const std::optional<at::Tensor>& mask, bool causal,
                                    const QueryStrip& strip, const at::TensorOptions& options);

}  // namespace modewise::ops
