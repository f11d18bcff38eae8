#include "modewise/nn/pooling_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>

#include <cmath>

#include "modewise/ops/dot_product_attention.h"
#include "modewise/ops/matmul.h"
#include "modewise/ops/softmax.h"

namespace modewise::nn {
namespace {

constexpr int64_t kKernel = 3, kKeyStride = 2;

int64_t taps(int64_t modes) {
  int64_t count = 1;
  for (int64_t i = 0; i < modes; ++i) count *= kKernel;
  return count;
}

/// The cells that tap `tap` sees: [B, ⌈N_1/s⌉ …, …], a view of the padded grid.
at::Tensor shifted(const at::Tensor& padded, int64_t modes, int64_t stride, int64_t tap) {
  at::Tensor view = padded;
  for (int64_t mode = modes - 1; mode >= 0; --mode) {
    const int64_t offset = tap % kKernel, size = padded.size(mode + 1) - (kKernel - 1);
    tap /= kKernel;
    view = view.slice(mode + 1, offset, offset + size, stride);
  }
  return view;
}

at::Tensor padded(const at::Tensor& x, int64_t modes) {
  std::vector<int64_t> padding = {0, 0};
  padding.resize(static_cast<size_t>(2 * (1 + modes)), kKernel / 2);
  return at::constant_pad_nd(x, padding);
}

at::Tensor zero_where_invalid(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  return mask ? x.masked_fill(mask->logical_not().unsqueeze(-1), 0) : x;
}

}  // namespace

GridPooling::GridPooling(Initializer& init, int64_t width, int64_t modes, int64_t stride)
    : modes_(modes),
      stride_(stride),
      weight_(register_parameter(
          "weight", init.uniform({taps(modes), width}, 1.0 / std::sqrt(static_cast<double>(taps(modes)))))),
      norm_(register_module("norm", std::make_shared<LayerNorm>(width))) {}

at::Tensor GridPooling::forward(const at::Tensor& x) const {
  const at::Tensor grid = padded(x, modes_), weight = cast_like(weight_, x);
  at::Tensor sum;
  for (int64_t tap = 0; tap < weight.size(0); ++tap) {
    const at::Tensor term = shifted(grid, modes_, stride_, tap) * weight[tap];
    sum = sum.defined() ? sum + term : term;
  }
  return norm_->forward(sum);
}

at::Tensor GridPooling::pooled_mask(const at::Tensor& mask) const {
  at::Tensor out = mask;
  for (int64_t mode = 0; mode < modes_; ++mode) out = out.slice(mode + 1, 0, out.size(mode + 1), stride_);
  return out;
}

PoolingAttention::PoolingAttention(Initializer& init, int64_t width, int64_t heads,
                                   const std::vector<int64_t>& token_sizes, double dropout)
    : heads_(heads) {
  const auto modes = static_cast<int64_t>(token_sizes.size());
  query_ = register_module("query_proj", std::make_shared<Linear>(init, width, width));
  key_ = register_module("key_proj", std::make_shared<Linear>(init, width, width));
  value_ = register_module("value_proj", std::make_shared<Linear>(init, width, width));
  out_ = register_module("out_proj", std::make_shared<Linear>(init, width, width));
  pool_query_ = register_module("pool_q", std::make_shared<GridPooling>(init, width, modes, 1));
  pool_key_ = register_module("pool_k", std::make_shared<GridPooling>(init, width, modes, kKeyStride));
  pool_value_ = register_module("pool_v", std::make_shared<GridPooling>(init, width, modes, kKeyStride));
  dropout_ = register_module("dropout", std::make_shared<Dropout>(init, dropout));
}

at::Tensor PoolingAttention::forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) {
  const auto project = [&](const Linear& linear) { return zero_where_invalid(linear.forward(x), mask); };
  const at::Tensor q = pool_query_->forward(project(*query_)).flatten(1, -2);
  const at::Tensor k = pool_key_->forward(project(*key_)).flatten(1, -2);
  const at::Tensor v = pool_value_->forward(project(*value_)).flatten(1, -2);
  const auto by_head = [&](const at::Tensor& t) { return t.unflatten(-1, {heads_, -1}).transpose(1, 2); };
  std::optional<at::Tensor> keys;  // [B, 1, 1, M]
  if (mask) {
    const at::Tensor valid = pool_key_->pooled_mask(*mask).flatten(1);
    // A sample without any valid place attends to all, so that its row stays finite.
    keys = valid.logical_or(valid.any(-1, true).logical_not()).unsqueeze(1).unsqueeze(1);
  }
  at::Tensor out;
  if (dropout_->active_probability() > 0) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(-1) / heads_));
    at::Tensor scores = ops::matmul(by_head(q) * scale, by_head(k).transpose(-2, -1));
    if (keys) scores = scores.masked_fill(keys->logical_not(), -1e30);
    const at::Tensor weights =
        ops::softmax(scores.scalar_type() == at::kBFloat16 ? scores.to(at::kFloat) : scores)
            .to(q.scalar_type());
    out = ops::matmul(dropout_->forward(weights), by_head(v));
  } else {
    const auto heads_last = [&](const at::Tensor& t) { return t.unflatten(-1, {heads_, -1}); };
    out = ops::dot_product_attention(heads_last(q), heads_last(k), heads_last(v), keys, false,
                                     1.0 / std::sqrt(static_cast<double>(q.size(-1) / heads_)))
              .transpose(1, 2);
  }
  return out_->forward((out.transpose(1, 2).flatten(-2) + q).view(x.sizes()));
}

}  // namespace modewise::nn
