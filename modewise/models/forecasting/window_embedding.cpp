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

WindowEmbedding::WindowEmbedding(nn::Initializer& init, int64_t series, int64_t width, int64_t positions,
                                 double dropout)
    // Weights with variance 2 / fan-in.
    : convolution_(register_module(
          "token_conv",
          std::make_shared<nn::Convolution>(init, 1, series, width, 3, 1, 0, false,
                                            2 * static_cast<double>(width) / static_cast<double>(series)))),
      dropout_(register_module("dropout", std::make_shared<nn::Dropout>(init, dropout))) {
  if (positions > 0)
    positions_ =
        register_module("positions", std::make_shared<nn::Constant>(interleaved_positions(positions, width)));
}

at::Tensor WindowEmbedding::forward(const at::Tensor& x) const {
  at::Tensor out = convolution_->forward(circular(x));
  if (positions_) out = out + positions_->value().narrow(0, 0, x.size(1)).to(out.scalar_type());
  return dropout_->forward(out);
}

void add_window_embedding_cost(nn::CostAccount& account, int64_t series, int64_t width, double steps) {
  account.linear("embedding", 3 * series, width, steps, false);
  account.keep(steps * static_cast<double>(series + 2 * width));
}

}  // namespace modewise::models
