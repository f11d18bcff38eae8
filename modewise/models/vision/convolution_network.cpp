#include "modewise/models/vision/convolution_network.h"

#include <ATen/TensorOperators.h>

#include <functional>
#include <numeric>

#include "modewise/nn/attention/grid_attention.h"

namespace modewise::models {
namespace {

constexpr int64_t kPool = 2;

}  // namespace

std::vector<int64_t> ConvolutionNetwork::map_sizes(const VisionModelConfig& config,
                                                   const VisionShape& shape) {
  std::vector<int64_t> sizes = shape.size;
  for (size_t i = 0; i < config.cnn.widths.size(); ++i)
    for (int64_t& size : sizes) size /= kPool;
  return sizes;
}

ConvolutionNetwork::ConvolutionNetwork(const VisionModelConfig& config, const VisionShape& shape,
                                       nn::Initializer& init)
    : VisionClassifier(shape), bfloat16_(config.precision == "bf16") {
  const auto modes = static_cast<int64_t>(shape.size.size());
  convolutions_ = register_module("convolutions", std::make_shared<nn::ModuleList<nn::Convolution>>());
  norms_ = register_module("norms", std::make_shared<nn::ModuleList<nn::BatchNorm>>());
  int64_t width = shape.channels;
  for (const int64_t next : config.cnn.widths) {
    convolutions_->push_back(std::make_shared<nn::Convolution>(init, modes, width, next, config.cnn.kernel, 1,
                                                               config.cnn.kernel / 2));
    norms_->push_back(std::make_shared<nn::BatchNorm>(next));
    width = next;
  }
  const std::vector<int64_t> sizes = map_sizes(config, shape);
  if (config.cnn.attention != "none") {
    nn::AttentionTypeOptions options;
    options.factors = config.cnn.factors;
    options.mixture = config.cnn.mixture;
    attention_norm_ = register_module("attention_norm", std::make_shared<nn::LayerNorm>(width));
    attention_ = register_module(
        "attention",
        nn::make_attention(init, config.cnn.attention, {sizes, 0, width, config.cnn.heads}, options));
  }
  dropout_ = register_module("dropout", std::make_shared<nn::Dropout>(init, config.head.dropout));
  const int64_t cells = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  linear_ = register_module("linear", std::make_shared<nn::Linear>(init, cells * width, shape.classes));
}

at::Tensor ConvolutionNetwork::map(const ClassifierInput& input) const {
  at::Tensor x = checked(input).values;
  if (bfloat16_) x = x.to(at::kBFloat16);
  for (size_t i = 0; i < convolutions_->size(); ++i)
    x = nn::max_pool((*norms_)[i].forward((*convolutions_)[i].forward(x)).relu_(), kPool, kPool, 0);
  return x;
}

at::Tensor ConvolutionNetwork::forward(const ClassifierInput& input) {
  at::Tensor x = map(input);
  if (attention_) x = x + attention_->forward(attention_norm_->forward(x), {});
  return linear_->forward(dropout_->forward(x.flatten(1))).to(input.values.scalar_type());
}

AttentionView ConvolutionNetwork::attention(const ClassifierInput& input) {
  if (!attention_) return {};
  const at::Tensor x = attention_norm_->forward(map(input));
  AttentionView view{x.sizes().slice(1, static_cast<size_t>(x.dim() - 2)).vec(), {}, {}};
  std::vector<at::Tensor> factors = attention_->factors(x, {});
  if (!factors.empty()) {
    std::vector<int64_t> modes(factors.size());
    std::iota(modes.begin(), modes.end(), int64_t{0});
    view.maps.push_back({std::move(modes), std::move(factors)});
  } else if (at::Tensor matrix = attention_->full_matrix(x, {}); matrix.defined()) {
    view.full.push_back(std::move(matrix));
  }
  return view;
}

}  // namespace modewise::models
