#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor mode_scores(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                       const std::optional<at::Tensor>& key_mask,
                       const std::optional<at::Tensor>& mode_mask) {
  const auto type = accumulate_type(q.scalar_type());
  const int64_t width = q.size(-1) / heads;
  const auto by_head = [&](const at::Tensor& t) {
    return t.to(type).unflatten(-1, {heads, width}).transpose(1, 2);
  };
  auto logits = at::matmul(by_head(q), by_head(k).transpose(-1, -2)) / std::sqrt(static_cast<double>(width));
  std::optional<at::Tensor> kept;
  if (key_mask) kept = (key_mask->dim() == 2 ? key_mask->unsqueeze(1) : *key_mask).unsqueeze(2);
  if (mode_mask) kept = kept ? kept->logical_and(*mode_mask) : mode_mask->unsqueeze(0).unsqueeze(0);
  if (!kept) return at::softmax(logits, -1).to(q.scalar_type());
  const auto none = at::zeros({}, logits.options());
  logits = at::where(*kept, logits, none - std::numeric_limits<double>::infinity());
  const auto any = kept->any(-1, true);
  return at::where(any, at::softmax(at::where(any, logits, none), -1), none).to(q.scalar_type());
}

}  // namespace modewise::ops::reference
