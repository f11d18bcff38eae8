#pragma once
// Pooling attention: every token is a query, keys and values are pooled to a coarser grid. The module is
// MViT's (Fan et al., ICCV 2021; residual pooling of MViTv2: Li et al., CVPR 2022); the models here keep
// resolution and width, where MViT's stages halve the resolution and double the width.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "modewise/nn/attention/attention.h"

namespace modewise::nn {

/// A depthwise convolution over the token grid, kernel 3 along every mode, padding 1, then LayerNorm.
class GridPooling : public torch::nn::Module {
 public:
  /// weight [3^k, D], kernel taps in row-major order.
  GridPooling(Initializer& init, int64_t width, int64_t modes, int64_t stride);

  /// x [B, N_1 … N_k, D], 0 at invalid cells -> [B, ⌈N_1/s⌉ … ⌈N_k/s⌉, D].
  at::Tensor forward(const at::Tensor& x) const;
  /// Pooled padding mask: a pooled cell is valid if its centre cell is. mask [B, N_1 … N_k] bool ->
  /// [B, ⌈N_1/s⌉ …]. A padded grid then has the same valid cells as the unpadded one.
  at::Tensor pooled_mask(const at::Tensor& mask) const;

 private:
  int64_t modes_, stride_;
  at::Tensor weight_;
  std::shared_ptr<LayerNorm> norm_;
};

/// softmax(P_q(q) P_k(k)ᵀ / √d) P_v(v) + P_q(q), projected: P_q has stride 1, P_k and P_v stride 2.
class PoolingAttention : public Attention {
 public:
  PoolingAttention(Initializer& init, int64_t width, int64_t heads, const std::vector<int64_t>& token_sizes,
                   double dropout);

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;

 private:
  int64_t heads_;
  std::shared_ptr<Linear> query_, key_, value_, out_;
  std::shared_ptr<GridPooling> pool_query_, pool_key_, pool_value_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace modewise::nn
