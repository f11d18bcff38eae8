#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

namespace {

std::vector<int64_t> other_dims(int64_t modes, int64_t mode) {
  std::vector<int64_t> others;
  for (int64_t other = 0; other < modes; ++other)
    if (other != mode) others.push_back(other + 1);
  return others;
}

// Cells averaged into each position of the mode, at least 1: [B, N_i], or one number without a mask.
at::Tensor cells_averaged(at::IntArrayRef sizes, int64_t mode, const std::optional<at::Tensor>& token_mask,
                          const at::TensorOptions& options) {
  const auto others = other_dims(static_cast<int64_t>(sizes.size()) - 2, mode);
  double cells = 1;
  for (const int64_t other : others) cells *= static_cast<double>(sizes[static_cast<size_t>(other)]);
  if (!token_mask) return at::full({}, std::max(cells, 1.0), options);
  const auto valid = token_mask->to(options.dtype());
  return (others.empty() ? valid : valid.sum(others)).clamp_min(1);
}

}  // namespace

std::vector<at::Tensor> mode_pool(const at::Tensor& x, Pooling pooling,
                                  const std::optional<at::Tensor>& token_mask) {
  const int64_t modes = x.dim() - 2;
  auto valid = x.to(accumulate_type(x.scalar_type()));
  if (token_mask) valid = at::where(token_mask->unsqueeze(-1), valid, at::zeros({}, valid.options()));
  std::vector<at::Tensor> pooled;
  for (int64_t mode = 0; mode < modes; ++mode) {
    const auto others = other_dims(modes, mode);
    auto sum = others.empty() ? valid : valid.sum(others);
    if (pooling == Pooling::mean)
      sum = sum / cells_averaged(x.sizes(), mode, token_mask, valid.options()).unsqueeze(-1);
    pooled.push_back(sum.to(x.scalar_type()));
  }
  return pooled;
}

at::Tensor mode_pool_backward(at::TensorList grads, at::IntArrayRef sizes, Pooling pooling,
                              const std::optional<at::Tensor>& token_mask) {
  const auto type = grads[0].scalar_type();
  at::Tensor out;
  for (size_t i = 0; i < grads.size(); ++i) {
    std::vector<int64_t> shape(sizes.size(), 1);
    shape[0] = sizes[0], shape[i + 1] = sizes[i + 1], shape.back() = sizes.back();
    auto grad = grads[i].to(accumulate_type(type));
    if (pooling == Pooling::mean)
      grad = grad / cells_averaged(sizes, static_cast<int64_t>(i), token_mask, grad.options()).unsqueeze(-1);
    const auto part = grad.reshape(shape);
    out = out.defined() ? out + part : part.expand(sizes);
  }
  if (token_mask) out = at::where(token_mask->unsqueeze(-1), out, at::zeros({}, out.options()));
  return out.to(type).contiguous();
}

}  // namespace modewise::ops::reference
