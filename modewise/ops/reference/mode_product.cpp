// Moves the mode last, multiplies all other positions of a head as one matrix, and moves it back: a factor is
// never copied for positions that share it.

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

namespace {

// [B, N_1 … N_k, D] -> [B, H, d, …other modes, N_mode]
at::Tensor mode_last(const at::Tensor& x, int64_t mode, int64_t heads) {
  return x.unflatten(-1, {heads, x.size(-1) / heads}).movedim({-2, -1}, {1, 2}).movedim(mode + 3, -1);
}

}  // namespace

at::Tensor mode_product(const at::Tensor& x, const at::Tensor& factor, int64_t mode) {
  const auto type = accumulate_type(x.scalar_type());
  const int64_t heads = factor.dim() == 2 ? 1 : factor.size(1);
  const auto last = mode_last(x.to(type), mode, heads);
  auto sizes = last.sizes().vec();
  sizes.back() = factor.size(-2);
  const auto out = at::matmul(last.flatten(2, -2), factor.to(type).transpose(-1, -2)).view(sizes);
  return out.movedim(-1, mode + 3).movedim({1, 2}, {-2, -1}).flatten(-2).to(x.scalar_type());
}

at::Tensor mode_contract(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads) {
  const auto type = accumulate_type(x.scalar_type());
  const int64_t groups = heads == 0 ? 1 : heads;
  const auto left = mode_last(a.to(type), mode, groups).flatten(2, -2);
  const auto right = mode_last(x.to(type), mode, groups).flatten(2, -2);
  const auto per_sample = at::matmul(left.transpose(-1, -2), right);
  return (heads == 0 ? per_sample.sum(at::IntArrayRef{0, 1}) : per_sample).to(x.scalar_type());
}

}  // namespace modewise::ops::reference
