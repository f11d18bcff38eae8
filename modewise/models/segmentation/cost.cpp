#include "modewise/models/segmentation/cost.h"

#include <array>
#include <utility>

#include "modewise/models/encoder_cost.h"
#include "modewise/models/vision/convolution_cost.h"

namespace modewise::models {

nn::ModelCost token_segmenter_cost(const SegmenterConfig& config, const SegmentationShape& shape) {
  const TokenShape tokens = scene_tokens(config, shape);
  const int64_t channels = shape.bands + (shape.missing ? 1 : 0), patch = config.patch.size;
  const bool apart = dates_are_a_mode(config, shape);
  const double count = nn::cell_count(tokens.sizes),
               places = apart ? count / static_cast<double>(shape.times) : count,
               pixels = static_cast<double>(shape.window * shape.window);
  nn::CostAccount account(config.precision);
  account.layer("embedding");
  add_patches(account, config.patch.embedding, {patch, patch}, channels * (apart ? 1 : shape.times),
              config.width, count);
  add_codes(account, config, tokens);
  add_blocks(account, config, config.name, tokens, Projection::pooled);
  account.layer("head");
  if (config.head.norm) account.norm(config.width, places);
  account.linear("head", config.width, shape.classes * patch * patch, places);
  if (config.head.skip != "none") {
    account.linear("pixels", channels * shape.times, config.head.skip_width, pixels);
    account.linear("pixels", config.head.skip_width, shape.classes, pixels);
  }
  return std::move(account).cost(tokens.sizes);
}

nn::ModelCost unet_cost(const SegmenterConfig& config, const SegmentationShape& shape) {
  const int64_t width = config.unet.width, channels = shape.bands + (shape.missing ? 1 : 0);
  nn::CostAccount account(config.precision);
  account.layer("encoder");
  ConvolutionCost grid(account, {shape.window, shape.window});
  grid.add(channels * shape.times, width, 7, 2);
  grid.shrink();
  int64_t in = width;
  for (int64_t stage = 0; stage < 4; ++stage) {
    in = grid.residual(in, width << stage, stage == 0 ? 1 : 2, false);
    in = grid.residual(in, in, 1, false);
  }
  account.layer("decoder");
  const std::array<int64_t, 5> skips = {4 * width, 2 * width, width, width, 0},
                               outs = {4 * width, 2 * width, width, width / 2, width / 4};
  for (size_t i = 0; i < outs.size(); ++i) {
    grid.enlarge();
    grid.add(in + skips[i], outs[i], 3);
    grid.add(outs[i], outs[i], 3);
    in = outs[i];
  }
  account.layer("head");
  account.linear("head", 9 * in, shape.classes, grid.places());
  return std::move(account).cost({});
}

nn::ModelCost segmenter_cost(const SegmenterConfig& config, const SegmentationShape& shape) {
  validate(config, shape);
  return row_of(segmenters(), config.name).cost(config, shape);
}

}  // namespace modewise::models
