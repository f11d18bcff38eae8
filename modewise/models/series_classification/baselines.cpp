#include "modewise/models/series_classification/baselines.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>

#include "modewise/ops/dense/elementary.h"

namespace modewise::models {

NearestNeighbor::NearestNeighbor(const SeriesShape& shape)
    : SeriesClassifier(shape),
      samples_(register_buffer("cases", at::zeros({shape.training_samples, shape.variables, shape.length}))),
      labels_(register_buffer("labels", at::zeros({shape.training_samples}, at::kLong))) {}

void NearestNeighbor::remember(const ClassifierInput& samples, const at::Tensor& labels) {
  const at::NoGradGuard no_grad;
  samples_.copy_(checked(samples).values);
  labels_.copy_(labels);
}

at::Tensor NearestNeighbor::forward(const ClassifierInput& given) {
  const ClassifierInput input = checked(given);
  std::vector<at::Tensor> rows;
  for (int64_t i = 0; i < input.values.size(0); ++i) {
    const at::Tensor distances =
        ops::elementary((samples_ - input.values.select(0, i)).square().flatten(1).sum(1), "sqrt");
    std::vector<at::Tensor> nearest;
    for (int64_t k = 0; k < shape().classes; ++k)
      nearest.push_back(distances.masked_fill(labels_.ne(k), std::numeric_limits<double>::infinity()).amin());
    rows.push_back(at::stack(nearest).neg());
  }
  return at::stack(rows);
}

LinearClassifier::LinearClassifier(const SeriesModelConfig& config, const SeriesShape& shape,
                                   nn::Initializer& init)
    : SeriesClassifier(shape),
      kernel_(std::min(config.dlinear.kernel, shape.length - 1 + shape.length % 2)),
      seasonal_(register_module(
          "seasonal", std::make_shared<nn::Linear>(init, shape.variables * shape.length, shape.classes))),
      trend_(register_module("trend", std::make_shared<nn::Linear>(init, shape.variables * shape.length,
                                                                   shape.classes, false))) {}

at::Tensor LinearClassifier::forward(const ClassifierInput& given) {
  const ClassifierInput input = checked(given);
  const at::Tensor& x = input.values;
  const auto repeated = [&](int64_t step) {
    return x.narrow(-1, step, 1).expand({x.size(0), x.size(1), kernel_ / 2});
  };
  const at::Tensor trend =
      at::cat({repeated(0), x, repeated(x.size(-1) - 1)}, -1).unfold(-1, kernel_, 1).mean(-1);
  return seasonal_->forward((x - trend).flatten(1)) + trend_->forward(trend.flatten(1));
}

}  // namespace modewise::models
