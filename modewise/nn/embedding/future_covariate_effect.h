#pragma once
// What the known columns of a step add to each series at that step: a regression beside a forecaster.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/nn/layers/linear.h"

namespace modewise::nn {

class FutureCovariateEffect : public torch::nn::Module {
 public:
  /// Of series N_1…N_j and K known numbers a step that differ along the first `modes` of them: each series
  /// has its own coefficients (0 at the start) of the numbers and of `hidden` ReLUs of them, which all share.
  FutureCovariateEffect(Initializer& init, std::vector<int64_t> series, int64_t modes, int64_t known, int64_t hidden);

  /// known [B, N_1…N_i, K, T] -> effect [B, N_1…N_j, T]
  at::Tensor forward(const at::Tensor& known) const;

 private:
  std::vector<int64_t> series_;
  int64_t places_;  // N_1 · … · N_i
  std::shared_ptr<Linear> hidden_;
  at::Tensor coefficients_;  // [N_1 · … · N_j, K + hidden]
};

}  // namespace modewise::nn
