#pragma once
// Effect of future covariates: a regression of each series on the covariates of the same time step, added to
// the forecast.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/nn/layers/linear.h"

namespace modewise::nn {

class FutureCovariateEffect : public torch::nn::Module {
 public:
  /// Series N_1…N_j with K covariates per step that differ along the first `modes` series modes. Each series
  /// has its own coefficients (initially 0) for the covariates and for `hidden` ReLU features shared by all.
  FutureCovariateEffect(Initializer& init, std::vector<int64_t> series, int64_t modes, int64_t known,
                        int64_t hidden);

  /// known [B, N_1…N_i, K, T] -> effect [B, N_1…N_j, T]
  at::Tensor forward(const at::Tensor& known) const;

 private:
  std::vector<int64_t> series_;
  int64_t places_;  // N_1 · … · N_i
  std::shared_ptr<Linear> hidden_;
  at::Tensor coefficients_;  // [N_1 · … · N_j, K + hidden]
};

}  // namespace modewise::nn
