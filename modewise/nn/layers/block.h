#pragma once
// Pre-norm transformer block: x + dropout(attention(LN x)), then + dropout(feed-forward(LN x)) (HOT, section
// 4.3), with optional LayerScale (Touvron et al. 2021).

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>

#include "modewise/nn/attention/attention.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/feed_forward.h"
#include "modewise/nn/layers/layer_norm.h"

namespace modewise::nn {

class Block : public torch::nn::Module {
 public:
  /// `epsilon`: of the LayerNorms. `layer_scale`: initial LayerScale; 0: none. One of `attention` and
  /// `feed_forward` may be null: the block then omits that branch and its norm.
  Block(Initializer& init, int64_t width, std::shared_ptr<Attention> attention,
        std::shared_ptr<FeedForward> feed_forward, double dropout, double layer_scale, double epsilon = 1e-5);

  /// x [B, N_1 … N_k, D], padding mask [B, N_1 … N_k] bool or none.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask);
  /// The attention factors for the same input.
  std::vector<at::Tensor> factors(const at::Tensor& x, const std::optional<at::Tensor>& mask);
  /// The attention matrix over all tokens, as Attention::full_matrix.
  at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask);

 private:
  at::Tensor attended(const at::Tensor& x, const std::optional<at::Tensor>& mask) const;
  at::Tensor fed(const at::Tensor& normed) const;

  std::shared_ptr<LayerNorm> norm1_, norm2_;
  std::shared_ptr<Attention> attention_;
  std::shared_ptr<FeedForward> feed_forward_;
  std::shared_ptr<Dropout> dropout1_, dropout2_;
  at::Tensor scale1_, scale2_;  // [D] or undefined
};

}  // namespace modewise::nn
