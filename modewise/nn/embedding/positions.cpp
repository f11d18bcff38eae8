#include "modewise/nn/embedding/positions.h"

#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "modewise/ops/attention/rotary.h"

namespace modewise::nn {
namespace {

/// Broadcast shape: the sizes of `modes`, 1 for the other modes, then the width.
std::vector<int64_t> view_of(const std::vector<int64_t>& token_sizes, const std::vector<int64_t>& modes,
                             int64_t width) {
  ops::check_modes("position encoding", "modes", modes, std::ssize(token_sizes));
  std::vector<int64_t> view(token_sizes.size(), 1);
  for (int64_t mode : modes) view[static_cast<size_t>(mode)] = token_sizes[static_cast<size_t>(mode)];
  view.push_back(width);
  return view;
}

std::vector<int64_t> sizes_of(const std::vector<int64_t>& token_sizes, const std::vector<int64_t>& modes) {
  ops::check_modes("position encoding", "modes", modes, std::ssize(token_sizes));
  std::vector<int64_t> sizes;
  for (int64_t mode : modes) sizes.push_back(token_sizes[static_cast<size_t>(mode)]);
  return sizes;
}

}  // namespace

at::Tensor sin_cos_positions(const std::vector<int64_t>& sizes, int64_t width) {
  TORCH_CHECK_VALUE(!sizes.empty(), "sin_cos_positions: expected the size of at least one mode, got none");
  const int64_t modes = static_cast<int64_t>(sizes.size());
  const int64_t half = width / (2 * modes);  // frequencies per mode
  const int64_t places = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  at::Tensor out = at::zeros({places, width}, at::kFloat);
  float* row = out.mutable_data_ptr<float>();
  for (int64_t place = 0; place < places; ++place, row += width) {
    int64_t rest = place;
    for (int64_t mode = modes - 1; mode >= 0; --mode) {
      const int64_t index = rest % sizes[static_cast<size_t>(mode)];
      rest /= sizes[static_cast<size_t>(mode)];
      for (int64_t f = 0; f < half; ++f) {
        const double angle = static_cast<double>(index) *
                             std::pow(10000.0, -static_cast<double>(f) / static_cast<double>(half));
        row[(2 * mode) * half + f] = static_cast<float>(std::sin(angle));
        row[(2 * mode + 1) * half + f] = static_cast<float>(std::cos(angle));
      }
    }
  }
  std::vector<int64_t> shape = sizes;
  shape.push_back(width);
  return out.view(shape);
}

ModeEmbedding::ModeEmbedding(Initializer& init, const std::vector<int64_t>& token_sizes,
                             const std::vector<int64_t>& modes, int64_t width, double stddev)
    : view_(view_of(token_sizes, modes, width)) {
  const int64_t count = std::accumulate(view_.begin(), view_.end(), int64_t{1}, std::multiplies<>());
  weight_ = register_parameter("weight", init.normal({count}, stddev));
}

at::Tensor ModeEmbedding::add_to(const at::Tensor& tokens) const {
  return tokens + weight_.view(view_).to(tokens.scalar_type());
}

SinCosEncoding::SinCosEncoding(const std::vector<int64_t>& token_sizes, const std::vector<int64_t>& modes,
                               int64_t width)
    : code_(register_module("code",
                            std::make_shared<Constant>(sin_cos_positions(sizes_of(token_sizes, modes), width)
                                                           .view(view_of(token_sizes, modes, width))))) {}

at::Tensor SinCosEncoding::add_to(const at::Tensor& tokens) const {
  return tokens + code_->value().to(tokens.scalar_type());
}

}  // namespace modewise::nn
