#include "modewise/models/captioning/encoder.h"

#include <fmt/ranges.h>

#include <cmath>

#include "modewise/core/error.h"
#include "modewise/nn/attention/grid_attention.h"
#include "modewise/nn/layers/feed_forward.h"

namespace modewise::models {
namespace {

constexpr int64_t kStride = 2;

}  // namespace

std::vector<int64_t> caption_cells(const CaptionModelConfig& config, const CaptionShape& shape) {
  std::vector<int64_t> cells = {shape.height, shape.width};
  if (shape.features > 0) return cells;
  for (size_t i = 0; i < config.encoder.widths.size(); ++i)
    for (int64_t& size : cells) size = (size - 1) / kStride + 1;
  return cells;
}

CaptionEncoder::CaptionEncoder(const CaptionModelConfig& config, const CaptionShape& shape,
                               nn::Initializer& init)
    : shape_(shape) {
  const CaptionEncoderConfig& encoder = config.encoder;
  const int64_t width = config.decoder.width;
  int64_t channels = shape.features;
  if (shape.features == 0) {
    convolutions_ = register_module("convolutions", std::make_shared<nn::ModuleList<nn::Convolution>>());
    norms_ = register_module("norms", std::make_shared<nn::ModuleList<nn::BatchNorm>>());
    channels = shape.channels;
    for (const int64_t next : encoder.widths) {
      convolutions_->push_back(std::make_shared<nn::Convolution>(init, 2, channels, next, encoder.kernel,
                                                                 kStride, encoder.kernel / 2));
      norms_->push_back(std::make_shared<nn::BatchNorm>(next));
      channels = next;
    }
  }
  to_cells_ = register_module("to_cells", std::make_shared<nn::Linear>(init, channels, width));
  const std::vector<int64_t> cells = caption_cells(config, shape);
  code_ = register_module(
      "code", std::make_shared<nn::ModeEmbedding>(init, cells, std::vector<int64_t>{0, 1}, width, 0.02));
  blocks_ = register_module("blocks", std::make_shared<nn::ModuleList<nn::Block>>());
  for (int64_t layer = 0; encoder.attention != "none" && layer < encoder.layers; ++layer) {
    nn::AttentionTypeOptions options;
    options.factors = encoder.factors;
    options.mixture = encoder.mixture;
    auto attention = nn::make_attention(init, encoder.attention, {cells, 0, width, encoder.heads}, options);
    auto feed_forward =
        std::make_shared<nn::GELUNetwork>(init, width, width * config.decoder.feed_forward, encoder.dropout);
    blocks_->push_back(std::make_shared<nn::Block>(init, width, std::move(attention), std::move(feed_forward),
                                                   encoder.dropout, 0));
  }
  norm_ = register_module("norm", std::make_shared<nn::LayerNorm>(width));
}

at::Tensor CaptionEncoder::trunk(const at::Tensor& images) const {
  if (shape_.features > 0) {
    require(images.dim() == 4 && images.size(1) == shape_.height && images.size(2) == shape_.width &&
                images.size(3) == shape_.features,
            ErrorKind::data, "expected features [B, {}, {}, {}], got [{}]", shape_.height, shape_.width,
            shape_.features, fmt::join(images.sizes(), ", "));
    return images;
  }
  require(images.dim() == 4 && images.size(1) == shape_.channels && images.size(2) == shape_.height &&
              images.size(3) == shape_.width,
          ErrorKind::data, "expected images [B, {}, {}, {}], got [{}]", shape_.channels, shape_.height,
          shape_.width, fmt::join(images.sizes(), ", "));
  at::Tensor x = images.movedim(1, -1);
  for (size_t i = 0; i < convolutions_->size(); ++i)
    x = (*norms_)[i].forward((*convolutions_)[i].forward(x)).relu_();
  return x;
}

at::Tensor CaptionEncoder::forward(const at::Tensor& images) const {
  at::Tensor cells = code_->add_to(to_cells_->forward(trunk(images)));
  for (const auto& block : *blocks_) cells = block->forward(cells, {});
  return norm_->forward(cells);
}

}  // namespace modewise::models
