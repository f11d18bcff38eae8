#include "modewise/models/forecasting/window_embedding.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include "modewise/nn/embedding/positions.h"

namespace modewise::models {
namespace {

/// Sine and cosine of each frequency side by side: [T, D].
at::Tensor interleaved_positions(int64_t steps, int64_t width) {
  const int64_t even = width - width % 2;
  at::Tensor out = at::zeros({steps, width});
  out.narrow(1, 0, even)
      .copy_(nn::sin_cos_positions({steps}, even)
                 .view({steps, 2, even / 2})
                 .transpose(1, 2)
                 .reshape({steps, even}));
  return out;
}

}  // namespace

at::Tensor circular(const at::Tensor& x) {
  return at::cat({x.narrow(1, x.size(1) - 1, 1), x, x.narrow(1, 0, 1)}, 1);
}

WindowEmbedding::WindowEmbedding(nn::Initializer& init, const ForecastShape& shape, int64_t width,
                                 int64_t positions, double dropout)
    // Weights with variance 2 / fan-in.
    : convolution_(register_module(
          "token_conv", std::make_shared<nn::Convolution>(
                            init, 1, shape.series_count(), width, 3, 1, 0, false,
                            2 * static_cast<double>(width) / static_cast<double>(shape.series_count())))),
      dropout_(register_module("dropout", std::make_shared<nn::Dropout>(init, dropout))) {
  if (shape.known > 0)
    covariates_ = register_module(
        "temporal_embedding",
        std::make_shared<nn::Linear>(init, shape.covariate_places() * shape.known, width, false));
  if (positions > 0)
    positions_ =
        register_module("positions", std::make_shared<nn::Constant>(interleaved_positions(positions, width)));
}

at::Tensor WindowEmbedding::forward(const at::Tensor& x, const at::Tensor& known, int64_t first) const {
  at::Tensor out = convolution_->forward(circular(x));
  if (covariates_) {
    const at::Tensor steps = known.narrow(-1, first, x.size(1)).flatten(1, -2).transpose(1, 2);
    out = out + covariates_->forward(steps.to(out.scalar_type()).contiguous());
  }
  if (positions_) out = out + positions_->value().narrow(0, 0, x.size(1)).to(out.scalar_type());
  return dropout_->forward(out);
}

void add_window_embedding_cost(nn::CostAccount& account, const ForecastShape& shape, int64_t width,
                               int64_t steps) {
  const auto rows = static_cast<double>(steps);
  account.linear("embedding", 3 * shape.series_count(), width, rows, false);
  if (shape.known > 0)
    account.linear("future covariates", shape.covariate_places() * shape.known, width, rows, false);
  account.keep(rows * static_cast<double>(shape.series_count() + 2 * width));
}

}  // namespace modewise::models
