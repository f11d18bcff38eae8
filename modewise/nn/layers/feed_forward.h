#pragma once
// Position-wise feed-forward networks of a transformer block.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/linear.h"

namespace modewise::nn {

class FeedForward : public torch::nn::Module {
 public:
  /// [..., D] -> [..., D]
  virtual at::Tensor forward(const at::Tensor& x) = 0;
};

/// w2(silu(w1 x) · w3 x), no biases: w1, w3 [M, D], w2 [D, M] (HOT as released; Shazeer 2020).
class SwiGLU : public FeedForward {
 public:
  SwiGLU(Initializer& init, int64_t width, int64_t hidden);
  /// With Llama's names gate_proj, down_proj, up_proj; normal weights with these standard deviations.
  SwiGLU(Initializer& init, int64_t width, int64_t hidden, double stddev, double down_stddev);
  at::Tensor forward(const at::Tensor& x) override;

 private:
  std::shared_ptr<Linear> gate_, down_, up_;
};

/// linear2(dropout(gelu(linear1 x))) with biases (HOT, section 4.3; PatchTST's and iTransformer's encoders,
/// the only ones with inner dropout).
class GELUNetwork : public FeedForward {
 public:
  GELUNetwork(Initializer& init, int64_t width, int64_t hidden, double inner_dropout = 0);
  at::Tensor forward(const at::Tensor& x) override;

 private:
  std::shared_ptr<Linear> linear1_, linear2_;
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace modewise::nn
