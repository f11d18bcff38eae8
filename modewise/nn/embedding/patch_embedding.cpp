#include "modewise/nn/embedding/patch_embedding.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/relu.h>
#include <c10/util/Exception.h>

#include <cmath>

#include "modewise/nn/layers/linear.h"
#include "modewise/ops/dense/linear.h"

namespace modewise::nn {
namespace {

/// Weight and bias under the state name of a Sequential's convolution, `0`.
class PatchConvolution : public torch::nn::Module {
 public:
  PatchConvolution(Initializer& init, int64_t channels, int64_t length, int64_t width) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(channels * length));
    weight = register_parameter("weight", init.uniform({width, channels, length}, bound));
    bias = register_parameter("bias", init.uniform({width}, bound));
  }
  at::Tensor weight, bias;
};

/// [..., L] -> [..., P, length]; repeats the last step where a patch reaches beyond it.
at::Tensor unfold(const at::Tensor& x, int64_t length, int64_t stride) {
  const int64_t padding = patch_padding(x.size(-1), length, stride);
  if (padding == 0) return x.unfold(-1, length, stride);
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = padding;
  return at::cat({x, x.narrow(-1, x.size(-1) - 1, 1).expand(sizes)}, -1).unfold(-1, length, stride);
}

}  // namespace

PatchActivation patch_activation(std::string_view name) {
  if (name == "relu") return PatchActivation::relu;
  if (name == "relu_norm") return PatchActivation::relu_norm;
  TORCH_CHECK_VALUE(name == "linear", "PatchEmbedding: activation must be linear, relu or relu_norm, got '",
                    name, "'");
  return PatchActivation::none;
}

int64_t patch_padding(int64_t lookback, int64_t length, int64_t stride) {
  TORCH_CHECK_VALUE(length >= 1 && stride >= 1, "patches: length and stride must be at least 1, got ", length,
                    " and ", stride);
  if (lookback < length) return length - lookback;
  const int64_t rest = (lookback - length) % stride;
  return rest == 0 ? 0 : stride - rest;
}

int64_t patch_count(int64_t lookback, int64_t length, int64_t stride) {
  return (lookback + patch_padding(lookback, length, stride) - length) / stride + 1;
}

PatchEmbedding::PatchEmbedding(Initializer& init, int64_t length, int64_t stride, int64_t width,
                               PatchActivation activation, bool flags)
    : length_(length), stride_(stride), activation_(activation), flags_(flags) {
  auto convolution =
      register_module("0", std::make_shared<PatchConvolution>(init, flags ? 2 : 1, length, width));
  weight_ = convolution->weight;
  bias_ = convolution->bias;
  if (activation == PatchActivation::relu_norm)
    norm_ = register_module("2", std::make_shared<LayerNorm>(width));
}

PatchTokens PatchEmbedding::forward(const at::Tensor& x, const at::Tensor& observed,
                                    at::ScalarType dtype) const {
  PatchTokens out;
  at::Tensor cells = unfold(x.to(dtype), length_, stride_);
  if (flags_) {
    const at::Tensor seen = observed.defined() ? observed : at::ones_like(x, at::kBool);
    const at::Tensor seen_cells = unfold(seen, length_, stride_);
    if (observed.defined()) out.mask = seen_cells.any(-1);
    cells = at::cat({cells, seen_cells.to(dtype)}, -1);
  }
  out.tokens = ops::linear(cells, weight_.flatten(1), bias_);
  if (activation_ != PatchActivation::none) out.tokens = at::relu(out.tokens);
  if (norm_) out.tokens = norm_->forward(out.tokens);
  return out;
}

}  // namespace modewise::nn
