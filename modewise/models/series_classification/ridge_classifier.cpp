#include "modewise/models/series_classification/ridge_classifier.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <limits>

#include "modewise/models/minimum_on_interval.h"
#include "modewise/models/symmetric_eigen.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::models {
namespace {

/// [N, K']
at::Tensor targets_of(const at::Tensor& labels, int64_t classes) {
  std::vector<at::Tensor> columns;
  for (int64_t k = classes == 2 ? 1 : 0; k < classes; ++k)
    columns.push_back(labels.eq(k).to(at::kDouble) * 2 - 1);
  return at::stack(columns, 1);
}

}  // namespace

RidgeClassifier fit_ridge_classifier(const at::Tensor& features, const at::Tensor& labels, int64_t classes,
                                     const std::vector<double>& alphas) {
  const at::Tensor mean = features.mean(0), spread = (features - mean).square().mean(0).sqrt();
  const at::Tensor stddev = at::where(spread > 0, spread, at::ones_like(spread));
  const at::Tensor x = (features - mean) / stddev;  // [N, F]
  const at::Tensor y = targets_of(labels, classes), centre = y.mean(0);
  const auto samples = static_cast<double>(x.size(0));
  const SymmetricEigen eigen = symmetric_eigen(ops::matmul(x, x.t()));
  // Centred features have an eigenvalue of 0; its rounding error would be amplified in the leave-one-out
  // errors.
  const double rounding = samples * std::numeric_limits<double>::epsilon() * eigen.values[-1].item<double>();
  const at::Tensor values = at::where(eigen.values > rounding, eigen.values, at::zeros_like(eigen.values));
  const at::Tensor rotated = ops::matmul(eigen.vectors.t(), y - centre);
  RidgeClassifier best;
  double minimum = std::numeric_limits<double>::infinity();
  at::Tensor dual;  // [N, K']
  for (const double alpha : alphas) {
    // Residuals of the fit, and 1 − diagonal of its hat matrix (intercept included).
    const at::Tensor kept = (alpha / (values + alpha)).unsqueeze(1);
    const at::Tensor residual = ops::matmul(eigen.vectors, rotated * kept);
    const at::Tensor share = ops::matmul(eigen.vectors.square(), kept) - 1 / samples;
    const at::Tensor error = residual / share;
    const double squares = error.square().mean(1).mean(0).item<double>();
    if (!(squares < minimum)) continue;
    minimum = squares;
    best.alpha = alpha;
    best.left_out = y - error;
    dual = residual / alpha;
  }
  best.weight = (ops::matmul(x.t(), dual) / stddev.unsqueeze(1)).t().contiguous();
  best.bias = centre - ops::matmul(best.weight, mean.unsqueeze(1)).squeeze(1);
  return best;
}

at::Tensor ridge_logits(const at::Tensor& decisions, double sharpness) {
  const at::Tensor scaled = decisions * sharpness;
  return decisions.size(1) == 1 ? at::cat({scaled / -2, scaled / 2}, 1) : scaled;
}

double fit_sharpness(const at::Tensor& decisions, const at::Tensor& labels) {
  const double logarithm = minimum_on_interval(std::log(0.1), std::log(100.0), [&](double at) {
    const at::Tensor chances = ridge_logits(decisions, std::exp(at)).log_softmax(1);
    return -chances.gather(1, labels.unsqueeze(1)).squeeze(1).mean(0).item<double>();
  });
  return std::exp(logarithm);
}

}  // namespace modewise::models
