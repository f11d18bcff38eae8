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

namespace {

// [B, N, D] -> [B, H, N, d] in the accumulate type
at::Tensor by_head(const at::Tensor& x, int64_t heads) {
  return x.to(accumulate_type(x.scalar_type())).unflatten(-1, {heads, x.size(-1) / heads}).transpose(1, 2);
}

}  // namespace

at::Tensor mode_scores(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                       const std::optional<at::Tensor>& key_mask,
                       const std::optional<at::Tensor>& mode_mask) {
  const int64_t width = q.size(-1) / heads;
  auto logits = at::matmul(by_head(q, heads), by_head(k, heads).transpose(-1, -2)) /
                std::sqrt(static_cast<double>(width));
  std::optional<at::Tensor> kept;
  if (key_mask) kept = (key_mask->dim() == 2 ? key_mask->unsqueeze(1) : *key_mask).unsqueeze(2);
  if (mode_mask) kept = kept ? kept->logical_and(*mode_mask) : mode_mask->unsqueeze(0).unsqueeze(0);
  if (!kept) return at::softmax(logits, -1).to(q.scalar_type());
  const auto none = at::zeros({}, logits.options());
  logits = at::where(*kept, logits, none - std::numeric_limits<double>::infinity());
  const auto any = kept->any(-1, true);
  return at::where(any, at::softmax(at::where(any, logits, none), -1), none).to(q.scalar_type());
}

std::tuple<at::Tensor, at::Tensor> mode_scores_backward(const at::Tensor& grad, const at::Tensor& scores,
                                                        const at::Tensor& q, const at::Tensor& k,
                                                        int64_t heads) {
  const auto type = accumulate_type(q.scalar_type());
  const auto s = scores.to(type), g = grad.to(type);
  const auto slope = s * (g - (g * s).sum(-1, true)) / std::sqrt(static_cast<double>(q.size(-1) / heads));
  const auto joined = [](const at::Tensor& by_head, const at::Tensor& like) {
    return by_head.transpose(1, 2).flatten(2).to(like.scalar_type()).contiguous();
  };
  return {joined(at::matmul(slope, by_head(k, heads)), q),
          joined(at::matmul(slope.transpose(-1, -2), by_head(q, heads)), k)};
}

}  // namespace modewise::ops::reference
