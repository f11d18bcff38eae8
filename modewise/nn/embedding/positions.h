#pragma once
// Codes that tell tokens apart: positions along modes with an order, identities along modes without.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/nn/layers/constant.h"
#include "modewise/nn/initializer.h"

namespace modewise::nn {

/// Sines and cosines of the places along `sizes.size()` modes (Vaswani et al. 2017, an equal even share of
/// the width a mode): [N_1 … N_k, D] float32. Left-over channels are 0.
at::Tensor sin_cos_positions(const std::vector<int64_t>& sizes, int64_t width);

/// A code for each place of the modes `modes` of tokens [B, N_1 … N_k, D], the same along the other modes.
/// The parameter is kept one-dimensional, so that weight decay, which spares vectors, leaves it alone.
class ModeEmbedding : public torch::nn::Module {
 public:
  ModeEmbedding(Initializer& init, const std::vector<int64_t>& token_sizes, const std::vector<int64_t>& modes,
              int64_t width, double stddev);

  at::Tensor add_to(const at::Tensor& tokens) const;

 private:
  std::vector<int64_t> view_;  // [N_1 or 1, …, D]
  at::Tensor weight_;
};

/// The fixed sin-cos code of the modes `modes`.
class SinCosEncoding : public torch::nn::Module {
 public:
  SinCosEncoding(const std::vector<int64_t>& token_sizes, const std::vector<int64_t>& modes, int64_t width);

  at::Tensor add_to(const at::Tensor& tokens) const;

 private:
  std::shared_ptr<Constant> code_;
};

}  // namespace modewise::nn
