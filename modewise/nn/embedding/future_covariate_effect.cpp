#include "modewise/nn/embedding/future_covariate_effect.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include <functional>
#include <numeric>
#include <utility>

#include "modewise/ops/dense/matmul.h"

namespace modewise::nn {

FutureCovariateEffect::FutureCovariateEffect(Initializer& init, std::vector<int64_t> series, int64_t modes,
                                             int64_t known, int64_t hidden)
    : series_(std::move(series)),
      places_(std::accumulate(series_.begin(), series_.begin() + modes, int64_t{1}, std::multiplies<>())) {
  if (hidden > 0) hidden_ = register_module("hidden", std::make_shared<Linear>(init, known, hidden));
  const int64_t count = std::accumulate(series_.begin(), series_.end(), int64_t{1}, std::multiplies<>());
  coefficients_ = register_parameter("coefficients", at::zeros({count, known + hidden}));
}

at::Tensor FutureCovariateEffect::forward(const at::Tensor& known) const {
  const int64_t batch = known.size(0), steps = known.size(-1), sharing = coefficients_.size(0) / places_;
  at::Tensor x = known.reshape({batch, places_, known.size(-2), steps}).transpose(2, 3);  // [B, P, T, K]
  if (hidden_) x = at::cat({x, at::relu(hidden_->forward(x))}, -1);
  // One matrix product per position over all windows and steps, so that no gradient is summed over copies.
  x = x.transpose(0, 1).reshape({places_, batch * steps, x.size(-1)});
  const at::Tensor weights = coefficients_.view({places_, sharing, x.size(-1)}).transpose(1, 2);
  std::vector<int64_t> sizes = {batch};
  sizes.insert(sizes.end(), series_.begin(), series_.end());
  sizes.push_back(steps);
  return ops::matmul(x, weights).view({places_, batch, steps, sharing}).permute({1, 0, 3, 2}).reshape(sizes);
}

}  // namespace modewise::nn
