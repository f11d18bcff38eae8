#pragma once
// PatchTST (Nie et al., ICLR 2023) as in the authors' supervised code: channel independence, patches with one
// stride of end padding, learned position embeddings, post-norm encoder with batch normalisation, residual
// attention scores (He et al. 2021), flatten head.

#include <memory>

#include "modewise/models/forecasting/learned_forecaster.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/feed_forward.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

class PatchTSTLayer : public torch::nn::Module {
 public:
  PatchTSTLayer(const ForecasterConfig& config, nn::Initializer& init);

  /// x [R, P, D] (R = B · N rows). Replaces `scores` [R, H, P, P] of the previous layer (or undefined) with
  /// this layer's.
  at::Tensor forward(const at::Tensor& x, at::Tensor& scores);

 private:
  at::Tensor attend(const at::Tensor& x, at::Tensor& scores) const;

  int64_t heads_;
  std::shared_ptr<nn::Linear> query_, key_, value_, out_;
  std::shared_ptr<nn::Dropout> weight_dropout_, projection_dropout_, attention_dropout_, feed_dropout_;
  std::shared_ptr<nn::BatchNorm> attention_norm_, feed_norm_;
  std::shared_ptr<nn::GELUNetwork> feed_forward_;
};

class PatchTST : public LearnedForecaster {
 public:
  PatchTST(const ForecasterConfig& config, const ForecastShape& shape, nn::Initializer& init);

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const ForecastInput& input) override;

 private:
  int64_t length_, stride_, patches_;
  bool bfloat16_;
  std::shared_ptr<nn::Linear> embedding_, head_;
  at::Tensor positions_;  // [P, D]
  std::shared_ptr<nn::Dropout> dropout_, head_dropout_;
  std::shared_ptr<nn::ModuleList<PatchTSTLayer>> layers_;
};

}  // namespace modewise::models
