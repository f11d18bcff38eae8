#include "modewise/models/scenes/config.h"

#include <algorithm>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/models/scenes/segmenter.h"

namespace modewise::models {
namespace {

constexpr int64_t kUnetMultiple = 32;  // five halvings

/// Whether model `name` has the option `path`.
bool segmenter_has(std::string_view name, std::string_view path) {
  if (path == "name" || path == "precision") return true;
  if (name == "unet") return path.starts_with("unet.") || path == "time";
  if (path.starts_with("unet.") || path == "position.identity") return false;
  constexpr std::string_view factors[] = {
      "attention.combine", "attention.pooling",  "attention.share_modes", "attention.attend_modes",
      "attention.kernel",  "attention.features", "attention.feature_map"};
  return name == "hot" || std::find(std::begin(factors), std::end(factors), path) == std::end(factors);
}

}  // namespace

const std::vector<std::string>& segmenter_names() {
  static const std::vector<std::string> names = {"hot", "transformer", "unet"};
  return names;
}

void ImagePatchConfig::fields(Fields& f) {
  f.add("size", size, "pixels a side of a patch", {.min = 1, .max = 1024});
  f.add("embedding", embedding, "linear, relu (the paper's) or relu_norm (as released: ReLU and BatchNorm)",
        {.one_of = {"linear", "relu", "relu_norm"}});
  f.add("dropout", dropout, "dropout of the embedded patches", {.min = 0, .max = 0.99});
}

void PixelHeadConfig::fields(Fields& f) {
  f.add("dropout", dropout, "dropout before the last linear map", {.min = 0, .max = 0.99});
  f.add("skip", skip,
        "a small network of each pixel's own bands beside the tokens (pixel), or none (as released)",
        {.one_of = {"none", "pixel"}});
  f.add("skip_width", skip_width, "width of that network's hidden layer", {.min = 1, .max = 4096});
}

void UNetConfig::fields(Fields& f) {
  f.add("width", width, "channels of the first stage, a multiple of 4; ResNet-18 has 64",
        {.min = 4, .max = 1024});
}

SegmenterConfig::SegmenterConfig() {
  blocks = 4;
}

void SegmenterConfig::fields(Fields& f) {
  choice_fields(f, *this, segmenter_names(), "its defaults", "hot and transformer");
  f.add("time", time, "several dates are a mode of the tokens, or stacked as bands; unet always stacks",
        {.one_of = {"mode", "stack"}});
  block_fields(f);
  f.group("patch", patch);
  f.group("position", position);
  f.group("attention", attention);
  f.group("head", head);
  f.group("unet", unet);
}

void SegmenterConfig::use_model(std::string new_name) {
  if (name != "unet" && new_name != "unet") {
    name = std::move(new_name);
    return;
  }
  *this = SegmenterConfig();
  name = std::move(new_name);
  if (name == "unet") time = "stack";
}

void SegmenterConfig::use_preset(std::string new_preset) {
  if (!use_published(*this, std::move(new_preset))) return;
  head.skip = "none";
}

int64_t window_multiple(const SegmenterConfig& config) {
  return config.name == "unet" ? kUnetMultiple : config.patch.size;
}

bool dates_are_a_mode(const SegmenterConfig& config, const SceneShape& shape) {
  return shape.times > 1 && config.time == "mode";
}

TokenShape scene_tokens(const SegmenterConfig& config, const SceneShape& shape) {
  TokenShape tokens;
  if (dates_are_a_mode(config, shape)) tokens.sizes.push_back(shape.times);
  tokens.sizes.insert(tokens.sizes.end(), 2, shape.window / config.patch.size);
  for (int64_t mode = 0; mode < tokens.modes(); ++mode) tokens.ordered_modes.push_back(mode);
  return tokens;
}

void validate(const SegmenterConfig& config, const SceneShape& shape, const std::string& source) {
  check_options(config, config.name != "unet", segmenter_names(), segmenter_has, source);
  require(shape.times >= 1 && shape.bands >= 1 && shape.classes >= 1 && shape.window >= 1, ErrorKind::config,
          "{}: a segmenter needs dates, bands, classes and a window of at least 1, got {}, {}, {} and {}",
          source, shape.times, shape.bands, shape.classes, shape.window);
  const int64_t multiple = window_multiple(config);
  require(shape.window % multiple == 0, ErrorKind::config,
          "{}: the window of {} pixels must be a multiple of {} for model '{}'", source, shape.window,
          multiple, config.name);
  if (config.name == "unet") {
    require(config.unet.width % 4 == 0, ErrorKind::config, "{}: unet.width must be a multiple of 4, got {}",
            source, config.unet.width);
    require(config.time == "stack", ErrorKind::config,
            "{}: model 'unet' stacks dates as bands: time = \"stack\"", source);
    return;
  }
  validate_encoder(config, scene_tokens(config, shape), source);
}

}  // namespace modewise::models
