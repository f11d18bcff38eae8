#include "modewise/nn/embedding/positions.h"

#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "modewise/ops/attention/rotary.h"

namespace modewise::nn {
namespace {

constexpr int64_t kAny = -1;

/// Sizes [N_1 … N_k, D] that tokens must have, kAny for modes outside `modes`.
std::vector<int64_t> required_sizes(const std::vector<int64_t>& token_sizes,
                                    const std::vector<int64_t>& modes, int64_t width) {
  ops::check_modes("position encoding", "modes", modes, std::ssize(token_sizes));
  std::vector<int64_t> sizes(token_sizes.size(), kAny);
  for (int64_t mode : modes) sizes[static_cast<size_t>(mode)] = token_sizes[static_cast<size_t>(mode)];
  sizes.push_back(width);
  return sizes;
}

/// Shape in which an encoding broadcasts.
std::vector<int64_t> view_of(std::vector<int64_t> required) {
  std::replace(required.begin(), required.end(), kAny, int64_t{1});
  return required;
}

/// Sizes of `modes`, ascending by mode.
std::vector<int64_t> sizes_of(const std::vector<int64_t>& token_sizes, std::vector<int64_t> modes) {
  std::sort(modes.begin(), modes.end());
  std::vector<int64_t> sizes;
  for (int64_t mode : modes) sizes.push_back(token_sizes[static_cast<size_t>(mode)]);
  return sizes;
}

/// tokens + encoding. ValueError unless tokens are [B, the `required` sizes].
at::Tensor plus_encoding(const char* module, const at::Tensor& tokens, const std::vector<int64_t>& required,
                         const at::Tensor& encoding) {
  bool fits = tokens.dim() == std::ssize(required) + 1;
  std::string wanted = "[B";
  for (size_t i = 0; i < required.size(); ++i) {
    const bool any = required[i] == kAny;
    fits = fits && (any || tokens.size(static_cast<int64_t>(i) + 1) == required[i]);
    wanted += any ? fmt::format(", N_{}", i + 1) : fmt::format(", {}", required[i]);
  }
  TORCH_CHECK_VALUE(fits, module, ": tokens must be ", wanted, "], got ", tokens.sizes());
  return tokens + encoding.to(tokens.scalar_type());
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
    : required_(required_sizes(token_sizes, modes, width)) {
  const std::vector<int64_t> view = view_of(required_);
  const int64_t count = std::accumulate(view.begin(), view.end(), int64_t{1}, std::multiplies<>());
  weight_ = register_parameter("weight", init.normal({count}, stddev));
}

at::Tensor ModeEmbedding::add_to(const at::Tensor& tokens) const {
  return plus_encoding("ModeEmbedding", tokens, required_, weight_.view(view_of(required_)));
}

SinCosEncoding::SinCosEncoding(const std::vector<int64_t>& token_sizes, const std::vector<int64_t>& modes,
                               int64_t width)
    : required_(required_sizes(token_sizes, modes, width)),
      code_(register_module(
          "code", std::make_shared<Constant>(
                      sin_cos_positions(sizes_of(token_sizes, modes), width).view(view_of(required_))))) {}

at::Tensor SinCosEncoding::add_to(const at::Tensor& tokens) const {
  return plus_encoding("SinCosEncoding", tokens, required_, code_->value());
}

}  // namespace modewise::nn
