#include "modewise/ops/attention/seen_keys.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>

#include "modewise/ops/arguments.h"

namespace modewise::ops {

std::optional<at::Tensor> seen_keys(const std::optional<at::Tensor>& mask, bool causal,
                                    const QueryStrip& strip, const at::TensorOptions& options) {
  std::optional<at::Tensor> seen = mask;
  if (seen && seen->dim() >= 2 && known_size(*seen, -2) > 1) seen = seen->narrow(-2, strip.first, strip.rows);
  if (seen && seen->dim() >= 1 && known_size(*seen, -1) > 1) seen = seen->narrow(-1, 0, strip.keys);
  if (!causal) return seen;
  const at::Tensor places = at::arange(strip.keys, options.dtype(at::kLong));
  const at::Tensor earlier = places.le(places.narrow(0, strip.first, strip.rows).unsqueeze(1));
  return seen ? seen->logical_and(earlier) : earlier;
}

}  // namespace modewise::ops
