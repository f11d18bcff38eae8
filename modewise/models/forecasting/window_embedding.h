#pragma once
// Embedding of a window's steps, shared by TimesNet, Autoformer, FEDformer and the Non-stationary
// Transformer: a token per step holds all series. Future covariates take the place of the authors' time
// features: these are data.calendar = ["auto"] with data.calendar_encoding = "scaled".

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "modewise/models/forecasting/cost.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/nn/initializer.h"
#include "modewise/nn/layers/constant.h"
#include "modewise/nn/layers/convolution.h"
#include "modewise/nn/layers/cost.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/linear.h"

namespace modewise::models {

/// x [B, T, C] with its last step before the first and its first after the last: [B, T + 2, C].
at::Tensor circular(const at::Tensor& x);

/// Convolution of three steps without bias over circularly padded time, plus sinusoidal positions, plus a
/// linear map without bias of the future covariates of all series; dropout.
class WindowEmbedding : public torch::nn::Module {
 public:
  /// `positions`: steps with a position; 0: no positions are added.
  WindowEmbedding(nn::Initializer& init, const ForecastShape& shape, int64_t width, int64_t positions,
                  double dropout);

  /// x [B, T, N], whose steps are those of `known` [B, N_1…N_i, K, L + H] from `first` on -> [B, T, D].
  /// `known` is undefined if K is 0.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& known, int64_t first) const;

 private:
  std::shared_ptr<nn::Convolution> convolution_;
  std::shared_ptr<nn::Linear> covariates_;
  std::shared_ptr<nn::Constant> positions_;
  std::shared_ptr<nn::Dropout> dropout_;
};

/// Cost of embedding `steps` steps.
void add_window_embedding_cost(nn::CostAccount& account, const ForecastShape& shape, int64_t width,
                               int64_t steps);

}  // namespace modewise::models
