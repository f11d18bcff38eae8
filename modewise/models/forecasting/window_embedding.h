#pragma once
// Embedding of a window's steps, shared by TimesNet, Autoformer, FEDformer and the Non-stationary
// Transformer: a token per step holds all series. The authors' time features are not used.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "modewise/nn/initializer.h"
#include "modewise/nn/layers/constant.h"
#include "modewise/nn/layers/convolution.h"
#include "modewise/nn/layers/cost.h"
#include "modewise/nn/layers/dropout.h"

namespace modewise::models {

/// x [B, T, C] with its last step before the first and its first after the last: [B, T + 2, C].
at::Tensor circular(const at::Tensor& x);

/// Convolution of three steps without bias over circularly padded time, plus sinusoidal positions; dropout.
class WindowEmbedding : public torch::nn::Module {
 public:
  /// `positions`: steps with a position; 0: no positions are added.
  WindowEmbedding(nn::Initializer& init, int64_t series, int64_t width, int64_t positions, double dropout);

  /// x [B, T, N] -> [B, T, D]
  at::Tensor forward(const at::Tensor& x) const;

 private:
  std::shared_ptr<nn::Convolution> convolution_;
  std::shared_ptr<nn::Constant> positions_;
  std::shared_ptr<nn::Dropout> dropout_;
};

/// Cost of embedding `steps` steps.
void add_window_embedding_cost(nn::CostAccount& account, int64_t series, int64_t width, double steps);

}  // namespace modewise::models
