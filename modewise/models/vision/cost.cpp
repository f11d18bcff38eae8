#include "modewise/models/vision/cost.h"

#include <algorithm>
#include <array>
#include <utility>

#include "modewise/models/encoder_cost.h"
#include "modewise/models/vision/convolution_cost.h"
#include "modewise/nn/attention/attention_cost.h"

namespace modewise::models {
namespace {

void add_stem_cost(nn::CostAccount& account, const std::vector<int64_t>& size, int64_t patch,
                   int64_t channels, int64_t width) {
  ConvolutionCost stem(account, size);
  int64_t from = channels;
  for (int64_t reduction = 2; reduction <= patch; reduction *= 2) {
    const int64_t to = std::max<int64_t>(width * reduction / patch, 1);
    stem.add(from, to, 3, 2, "embedding");
    from = to;
  }
}

/// `depths`: residual blocks of each stage.
nn::ModelCost residual_network_cost(const VisionModelConfig& config, const VisionShape& shape,
                                    const std::array<int64_t, 4>& depths, bool bottleneck) {
  nn::CostAccount account(config.precision);
  account.layer("stem");
  ConvolutionCost grid(account, shape.size, config.resnet.convolution == "3d" ? 0 : 2);
  int64_t width = config.resnet.width, in = width;
  grid.add(shape.channels, width, 3);
  for (size_t stage = 0; stage < depths.size(); ++stage, width *= 2) {
    account.layer("stage " + std::to_string(stage + 1));
    for (int64_t i = 0; i < depths[stage]; ++i)
      in = grid.residual(in, width, i == 0 && stage > 0 ? 2 : 1, bottleneck);
  }
  account.layer("head");
  account.linear("head", in, shape.classes, 1);
  return std::move(account).cost({});
}

}  // namespace

nn::ModelCost token_classifier_cost(const VisionModelConfig& config, const VisionShape& shape) {
  const TokenShape tokens = grid_tokens(config, shape);
  const std::vector<int64_t> patch = config.patch.along(shape.size);
  const double count = nn::cell_count(tokens.sizes);
  nn::CostAccount account(config.precision);
  account.layer("embedding");
  if (config.patch.embedding == "stem")
    add_stem_cost(account, shape.size, patch.front(), shape.channels, config.width);
  else
    add_patches(account, config.patch.embedding, patch, shape.channels, config.width, count);
  add_codes(account, config, tokens);
  add_blocks(account, config, row_of(vision_models(), config.name).mechanism, tokens, Projection::pooled);
  account.layer("head");
  const bool mean = config.head.pooling == "mean", flat = config.head.pooling == "flatten";
  if (config.head.norm) account.norm(config.width, mean ? 1 : count);
  if (!mean && !flat) {
    account.linear("head", config.width, config.heads, count, false);
    account.add("head", 0, count * static_cast<double>(config.width));
  }
  account.linear("head", flat ? static_cast<int64_t>(count) * config.width : config.width, shape.classes, 1);
  return std::move(account).cost(tokens.sizes);
}

nn::ModelCost vision_transformer_cost(const VisionModelConfig& given, const VisionShape& shape) {
  VisionModelConfig config = given;
  config.feed_forward = "gelu";
  config.attention = {};
  config.attention.query_key_norm = false;
  const std::vector<int64_t> patch = config.patch.along(shape.size);
  const auto count = static_cast<int64_t>(nn::cell_count(grid_tokens(config, shape).sizes));
  nn::CostAccount account(config.precision);
  account.layer("embedding");
  add_patches(account, "linear", patch, shape.channels, config.width, static_cast<double>(count));
  account.add("position embeddings", (2 + count) * config.width, 0);
  const TokenShape tokens = {.sizes = {1 + count}, .ordered_modes = {0}};
  add_blocks(account, config, "transformer", tokens, Projection::pooled);
  account.layer("head");
  account.norm(config.width, 1);
  account.linear("head", config.width, shape.classes, 1);
  return std::move(account).cost(tokens.sizes);
}

nn::ModelCost resnet18_cost(const VisionModelConfig& config, const VisionShape& shape) {
  return residual_network_cost(config, shape, {2, 2, 2, 2}, false);
}

nn::ModelCost resnet50_cost(const VisionModelConfig& config, const VisionShape& shape) {
  return residual_network_cost(config, shape, {3, 4, 6, 3}, true);
}

nn::ModelCost convolution_network_cost(const VisionModelConfig& config, const VisionShape& shape) {
  nn::CostAccount account(config.precision);
  ConvolutionCost grid(account, shape.size);
  int64_t width = shape.channels;
  for (const int64_t next : config.cnn.widths) {
    account.layer("convolution, " + std::to_string(next) + " channels");
    grid.add(width, next, config.cnn.kernel);
    grid.pool();
    width = next;
  }
  if (config.cnn.attention != "none") {
    account.layer("attention");
    account.norm(width, grid.places());
    nn::AttentionTypeOptions options;
    options.factors = config.cnn.factors;
    options.mixture = config.cnn.mixture;
    add_attention(account, config.cnn.attention, {grid.size(), 0, width, config.cnn.heads}, options);
  }
  account.layer("head");
  account.linear("head", static_cast<int64_t>(grid.places()) * width, shape.classes, 1);
  return std::move(account).cost(config.cnn.attention == "none" ? std::vector<int64_t>{} : grid.size());
}

nn::ModelCost vision_classifier_cost(const VisionModelConfig& config, const VisionShape& shape) {
  validate(config, shape);
  return row_of(vision_models(), config.name).cost(config, shape);
}

}  // namespace modewise::models
