#pragma once
// Position encodings along ordered modes, and learned mode embeddings along modes without order.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/nn/initializer.h"
#include "modewise/nn/layers/constant.h"

namespace modewise::nn {

/// Sinusoidal position encoding over `sizes.size()` modes (Vaswani et al. 2017; the modes share the width
/// equally, in even parts): [N_1 … N_k, D] float32. Left-over channels are 0.
at::Tensor sin_cos_positions(const std::vector<int64_t>& sizes, int64_t width);

/// Learned embedding of each position along `modes` of tokens [B, N_1 … N_k, D], broadcast over the other
/// modes. The parameter is one-dimensional: weight decay skips vectors.
class ModeEmbedding : public torch::nn::Module {
 public:
  ModeEmbedding(Initializer& init, const std::vector<int64_t>& token_sizes, const std::vector<int64_t>& modes,
                int64_t width, double stddev);

  /// tokens + embedding. ValueError for other sizes of `modes` or another width.
  at::Tensor add_to(const at::Tensor& tokens) const;

 private:
  std::vector<int64_t> required_;  // sizes of the tokens
  at::Tensor weight_;
};

/// Fixed sinusoidal position encoding of the modes `modes`, in any order.
class SinCosEncoding : public torch::nn::Module {
 public:
  SinCosEncoding(const std::vector<int64_t>& token_sizes, const std::vector<int64_t>& modes, int64_t width);

  /// As ModeEmbedding::add_to.
  at::Tensor add_to(const at::Tensor& tokens) const;

 private:
  std::vector<int64_t> required_;  // sizes of the tokens
  std::shared_ptr<Constant> code_;
};

}  // namespace modewise::nn
