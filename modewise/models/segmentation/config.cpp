#include "modewise/models/segmentation/config.h"

#include <utility>

#include "modewise/models/segmentation/segmenter.h"

namespace modewise::models {
namespace {

constexpr int64_t kUnetMultiple = 32;  // five halvings

}  // namespace

void ImagePatchConfig::fields(Fields& f) {
  f.add("size", size, "patch side in pixels", {.min = 1, .max = 1024});
  f.add("embedding", embedding,
        "patch embedding: linear, relu (as in the paper) or relu_norm (as released: ReLU and BatchNorm)",
        {.one_of = {"linear", "relu", "relu_norm"}});
  f.add("dropout", dropout, "dropout probability of the patch embeddings", {.min = 0, .max = 0.99});
}

void PixelHeadConfig::fields(Fields& f) {
  f.add("norm", norm, "LayerNorm in the head (as released; the paper has none)");
  f.add("dropout", dropout, "dropout probability before the last linear layer", {.min = 0, .max = 0.99});
  f.add("skip", skip, "skip connection: pixel (a small MLP over each pixel's bands) or none (as released)",
        {.one_of = {"none", "pixel"}});
  f.add("skip_width", skip_width, "hidden width of the pixel skip connection", {.min = 1, .max = 4096});
}

void UNetConfig::fields(Fields& f) {
  f.add("width", width, "channels of the first stage, a multiple of 4; ResNet-18 has 64",
        {.min = 4, .max = 1024});
}

SegmenterConfig::SegmenterConfig() {
  blocks = 4;
}

void SegmenterConfig::fields(Fields& f) {
  choice_fields(f, *this, names_of(segmenters()), "its defaults", "hot and transformer");
  f.add("time", time, "several dates: mode (a token mode) or stack (as bands; always for unet)",
        {.one_of = {"mode", "stack"}});
  block_fields(f);
  f.group("patch", patch);
  f.group("position", position);
  f.group("attention", attention);
  f.group("head", head);
  f.group("unet", unet);
}

void SegmenterConfig::use_model(std::string new_name) {
  use_model_of(segmenters(), *this, std::move(new_name));
}

void SegmenterConfig::use_preset(std::string new_preset) {
  if (!use_published(*this, std::move(new_preset))) return;
  head.skip = "none";
  if (preset == "release") return;
  blocks = 6;  // Table 6 of the paper
  head.norm = false;
}

int64_t window_multiple(const SegmenterConfig& config) {
  return config.name == "unet" ? kUnetMultiple : config.patch.size;
}

bool dates_are_a_mode(const SegmenterConfig& config, const SegmentationShape& shape) {
  return shape.times > 1 && config.time == "mode";
}

TokenShape scene_tokens(const SegmenterConfig& config, const SegmentationShape& shape) {
  TokenShape tokens;
  if (dates_are_a_mode(config, shape)) tokens.sizes.push_back(shape.times);
  tokens.sizes.insert(tokens.sizes.end(), 2, shape.window / config.patch.size);
  for (int64_t mode = 0; mode < tokens.modes(); ++mode) tokens.ordered_modes.push_back(mode);
  return tokens;
}

}  // namespace modewise::models
