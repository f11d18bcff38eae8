#include "modewise/analysis/image_cost.h"

#include <algorithm>
#include <array>
#include <utility>

#include "modewise/analysis/attention_type_cost.h"
#include "modewise/analysis/members_cost.h"

namespace modewise::analysis {
namespace {

double element_bytes(const models::ModelChoice& config) {
  return config.precision == "bf16" ? 2 : 4;
}

/// Convolutions with batch normalisation over a grid that strides downsample.
class ConvolutionCost {
 public:
  ConvolutionCost(CostAccount& account, std::vector<int64_t> size)
      : account_(account), size_(std::move(size)) {}

  double places() const {
    double product = 1;
    for (const int64_t n : size_) product *= static_cast<double>(n);
    return product;
  }
  /// Adds a padded convolution: a grid of n cells becomes ⌈n / stride⌉.
  void add(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, const char* name = "convolutions") {
    int64_t taps = 1;
    for (int64_t& n : size_) {
      n = (n + stride - 1) / stride;
      taps *= kernel;
    }
    account_.linear(name, taps * in, out, places(), false);
    account_.norm(out, places());
    account_.keep(2 * places() * static_cast<double>(out));
  }
  void shrink() {
    for (int64_t& n : size_) n = (n + 1) / 2;
  }
  /// Pooling by 2 that drops an odd last cell.
  void pool() {
    for (int64_t& n : size_) n /= 2;
  }
  const std::vector<int64_t>& size() const { return size_; }
  void enlarge() {
    for (int64_t& n : size_) n *= 2;
  }
  /// Adds a residual block: two convolutions of kernel 3, or a bottleneck (1, 3, 1) to four times the width,
  /// and the shortcut's projection. Returns the output channels.
  int64_t residual(int64_t in, int64_t width, int64_t stride, bool bottleneck) {
    const int64_t out = bottleneck ? 4 * width : width;
    if (bottleneck) add(in, width, 1);
    add(bottleneck ? width : in, width, 3, stride);
    add(width, out, bottleneck ? 1 : 3);
    if (stride != 1 || in != out) add(in, out, 1);
    return out;
  }

 private:
  CostAccount& account_;
  std::vector<int64_t> size_;
};

void add_patches(CostAccount& account, const std::string& embedding, const std::vector<int64_t>& patch,
                 int64_t channels, int64_t width, double count) {
  int64_t inputs = channels;
  for (const int64_t p : patch) inputs *= p;
  account.linear("embedding", inputs, width, count);
  if (embedding == "relu_norm") account.norm(width, count);
  account.keep(count * static_cast<double>(inputs + width));
}

void add_stem(CostAccount& account, const std::vector<int64_t>& size, int64_t patch, int64_t channels,
              int64_t width) {
  ConvolutionCost stem(account, size);
  int64_t from = channels;
  for (int64_t reduction = 2; reduction <= patch; reduction *= 2) {
    const int64_t to = std::max<int64_t>(width * reduction / patch, 1);
    stem.add(from, to, 3, 2, "embedding");
    from = to;
  }
}

ModelCost token_classifier_cost(const models::VisionModelConfig& config, const models::VisionShape& shape) {
  const models::TokenShape tokens = models::grid_tokens(config, shape);
  const std::vector<int64_t> patch = config.patch.along(shape.size);
  int64_t count = 1;
  for (const int64_t n : tokens.sizes) count *= n;
  CostAccount account(element_bytes(config));
  account.layer("embedding");
  if (config.patch.embedding == "stem")
    add_stem(account, shape.size, patch.front(), shape.channels, config.width);
  else
    add_patches(account, config.patch.embedding, patch, shape.channels, config.width,
                static_cast<double>(count));
  add_codes(account, config, tokens);
  add_blocks(account, config, row_of(models::vision_models(), config.name).mechanism, tokens,
             Projection::pooled);
  account.layer("head");
  const bool mean = config.head.pooling == "mean", flat = config.head.pooling == "flatten";
  if (config.head.norm) account.norm(config.width, mean ? 1 : static_cast<double>(count));
  if (!mean && !flat) {
    account.linear("head", config.width, config.heads, static_cast<double>(count), false);
    account.add("head", 0, static_cast<double>(count * config.width));
  }
  account.linear("head", flat ? count * config.width : config.width, shape.classes, 1);
  return std::move(account).cost(tokens.sizes);
}

ModelCost vision_transformer_cost(const models::VisionModelConfig& given, const models::VisionShape& shape) {
  models::VisionModelConfig config = given;
  config.feed_forward = "gelu";
  config.attention = {};
  config.attention.query_key_norm = false;
  const std::vector<int64_t> patch = config.patch.along(shape.size);
  int64_t count = 1;
  for (const int64_t n : models::grid_tokens(config, shape).sizes) count *= n;
  CostAccount account(element_bytes(config));
  account.layer("embedding");
  add_patches(account, "linear", patch, shape.channels, config.width, static_cast<double>(count));
  account.add("position embeddings", (2 + count) * config.width, 0);
  const models::TokenShape tokens = {.sizes = {1 + count}, .ordered_modes = {0}};
  add_blocks(account, config, "transformer", tokens, Projection::pooled);
  account.layer("head");
  account.norm(config.width, 1);
  account.linear("head", config.width, shape.classes, 1);
  return std::move(account).cost(tokens.sizes);
}

ModelCost residual_network_cost(const models::VisionModelConfig& config, const models::VisionShape& shape) {
  const bool bottleneck = config.name == "resnet50";
  const std::array<int64_t, 4> depths =
      bottleneck ? std::array<int64_t, 4>{3, 4, 6, 3} : std::array<int64_t, 4>{2, 2, 2, 2};
  CostAccount account(element_bytes(config));
  account.layer("stem");
  ConvolutionCost grid(account, shape.size);
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

ModelCost convolution_network_cost(const models::VisionModelConfig& config,
                                   const models::VisionShape& shape) {
  CostAccount account(element_bytes(config));
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
    add_attention(account, config.cnn.attention, {grid.size(), 0, width, config.cnn.heads}, options);
  }
  account.layer("head");
  account.linear("head", static_cast<int64_t>(grid.places()) * width, shape.classes, 1);
  return std::move(account).cost(config.cnn.attention == "none" ? std::vector<int64_t>{} : grid.size());
}

ModelCost token_segmenter_cost(const models::SegmenterConfig& config,
                               const models::SegmentationShape& shape) {
  const models::TokenShape tokens = models::scene_tokens(config, shape);
  const int64_t channels = shape.bands + (shape.missing ? 1 : 0), patch = config.patch.size;
  const bool apart = models::dates_are_a_mode(config, shape);
  double count = 1;
  for (const int64_t n : tokens.sizes) count *= static_cast<double>(n);
  const double places = apart ? count / static_cast<double>(shape.times) : count,
               pixels = static_cast<double>(shape.window * shape.window);
  CostAccount account(element_bytes(config));
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

ModelCost unet_cost(const models::SegmenterConfig& config, const models::SegmentationShape& shape) {
  const int64_t width = config.unet.width, channels = shape.bands + (shape.missing ? 1 : 0);
  CostAccount account(element_bytes(config));
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

}  // namespace

ModelCost vision_classifier_cost(const models::VisionModelConfig& config, const models::VisionShape& shape) {
  models::validate(config, shape);
  if (models::is_grid_token_model(config.name)) return token_classifier_cost(config, shape);
  if (config.name == "vit") return vision_transformer_cost(config, shape);
  if (config.name == "ensemble") return members_cost(config, shape, vision_classifier_cost);
  return config.name == "cnn" ? convolution_network_cost(config, shape)
                              : residual_network_cost(config, shape);
}

ModelCost segmenter_cost(const models::SegmenterConfig& config, const models::SegmentationShape& shape) {
  models::validate(config, shape);
  return config.name == "unet" ? unet_cost(config, shape) : token_segmenter_cost(config, shape);
}

}  // namespace modewise::analysis
