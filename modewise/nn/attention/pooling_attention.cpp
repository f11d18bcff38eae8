#include "modewise/nn/attention/pooling_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>

#include "modewise/nn/layers/checks.h"
#include "modewise/ops/attention/full_attention.h"

namespace modewise::nn {
namespace {

constexpr int64_t kKernel = 3, kKeyStride = 2;

int64_t taps(int64_t modes) {
  int64_t count = 1;
  for (int64_t i = 0; i < modes; ++i) count *= kKernel;
  return count;
}

/// Input cells of kernel tap `tap`: [B, ⌈N_1/s⌉ …, …], a view of the padded grid.
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
  width_of_head("PoolingAttention", width, heads);
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

at::Tensor PoolingAttention::forward(const at::Tensor& given, const std::optional<at::Tensor>& mask) {
  const char* module = "PoolingAttention";
  const at::Tensor x = valid_tokens(module, given, mask);
  const auto project = [&](const Linear& linear) { return zeroed_tokens(module, linear.forward(x), mask); };
  const at::Tensor q = pool_query_->forward(project(*query_)).flatten(1, -2);
  const at::Tensor k = pool_key_->forward(project(*key_)).flatten(1, -2);
  const at::Tensor v = pool_value_->forward(project(*value_)).flatten(1, -2);
  std::optional<at::Tensor> keys;
  if (mask) keys = pool_key_->pooled_mask(*mask).flatten(1);
  const at::Tensor out =
      ops::full_attention(q, k, v, heads_, keys, dropout_->active_probability(), dropout_->key());
  return out_->forward((out + q).view(x.sizes()));
}

}  // namespace modewise::nn
