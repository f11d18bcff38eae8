#include "modewise/models/vision/config.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/nn/attention/grid_attention.h"
#include "modewise/nn/embedding/grid_patches.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {

bool is_grid_token_model(std::string_view name) {
  return has_tokens(vision_models(), name);
}

void GridPatchConfig::fields(Fields& f) {
  f.add("size", size,
        "patch size in voxels (pixels) per axis; one number: for all axes; empty: chosen, about 7 patches "
        "per axis",
        {.min = 1, .max = 1024});
  f.add("embedding", embedding,
        "patch embedding: linear, relu (as in the paper), relu_norm (as released: ReLU and BatchNorm) or "
        "stem (small convolutions)",
        {.one_of = {"linear", "relu", "relu_norm", "stem"}});
  f.add("dropout", dropout, "dropout probability of the patch embeddings", {.min = 0, .max = 0.99});
}

std::vector<int64_t> GridPatchConfig::along(const std::vector<int64_t>& volume) const {
  if (size.size() > 1) return size;
  return std::vector<int64_t>(volume.size(), size.empty() ? usual_patch(volume) : size.front());
}

int64_t usual_patch(const std::vector<int64_t>& volume) {
  require(!volume.empty(), ErrorKind::config, "expected the size of an image or a volume, got no axes");
  const auto distance = [&](int64_t patch) {
    double ratio = 0;
    for (const int64_t voxels : volume)
      ratio += std::log(static_cast<double>((voxels + patch - 1) / patch) / 7);
    return std::abs(ratio);
  };
  int64_t best = 2;
  for (int64_t patch = 4; patch <= std::min<int64_t>(1024, *std::min_element(volume.begin(), volume.end()));
       patch *= 2)
    if (distance(patch) < distance(best)) best = patch;
  return best;
}

void GridHeadConfig::fields(Fields& f) {
  f.add("pooling", pooling, "pooling of the tokens in the head: mean (as released), flatten or attention",
        {.one_of = {"mean", "flatten", "attention"}});
  f.add("norm", norm, "LayerNorm in the head (as released; the paper has none)");
  f.add("dropout", dropout, "dropout probability before the last linear layer", {.min = 0, .max = 0.99});
}

void ResNetConfig::fields(Fields& f) {
  f.add("width", width, "channels of the first stage, doubling with each stage", {.min = 1, .max = 4096});
  f.add("convolution", convolution,
        "kernels of volumes: 3d (3×3×3), 2.5d (1×3×3, each slice by itself) or acs (a third of the channels "
        "each 1×3×3, 3×1×3 and 3×3×1)",
        {.one_of = {"3d", "2.5d", "acs"}});
}

void ConvolutionConfig::fields(Fields& f) {
  std::vector<std::string> forms = ops::attention_names(ops::TokenLayout::grid);
  forms.insert(forms.begin(), "none");
  f.add("widths", widths, "channels of each convolution; each halves the image", {.min = 1, .max = 4096});
  f.add("kernel", kernel, "kernel size of the convolutions in pixels, odd", {.min = 1, .max = 31});
  f.add("attention", attention, "attention type after the convolutions, or none (docs/synthesizers.md)",
        {.one_of = forms});
  f.add("heads", heads, "attention heads; must divide the last of widths", {.min = 1, .max = 4096});
  f.add("factors", factors, "Kronecker factors of factorized attention types", {.min = 1, .max = 16});
  f.add("mixture", mixture,
        "types whose logits attention mixture mixes, such as dense,random (default stt,factorized-random)",
        {.one_of = nn::mixable_types()});
}

void VitConfig::fields(Fields& f) {
  f.add("from", from,
        "pretrained ViT folder (Hugging Face layout) to start from, which also sets the "
        "sizes; \"\": from scratch",
        {.is_path = always});
}

VisionModelConfig::VisionModelConfig() {
  width = 48;
  hidden = 96;
  blocks = 2;
  heads = 4;
  head.pooling = "attention";
}

void VisionModelConfig::fields(Fields& f) {
  choice_fields(f, *this, accepted_names(vision_models()), "its authors' values", "the hot family");
  block_fields(f);
  f.group("patch", patch);
  f.group("position", position);
  f.group("attention", attention);
  f.group("head", head);
  f.group("resnet", resnet);
  f.group("cnn", cnn);
  f.group("vit", vit);
  f.group("ensemble", ensemble);
}

void VisionModelConfig::use_model(std::string new_name) {
  use_model_of(vision_models(), *this, std::move(new_name));
}

void VisionModelConfig::use_preset(std::string new_preset) {
  if (!use_published(*this, std::move(new_preset))) return;
  blocks = 6;
  dropout = 0.1;
  head.pooling = "mean";
  head.norm = preset == "release";
}

void VisionModelConfig::choose_patch(const VisionShape& shape) {
  if (is_grid_token_model(name) && patch.size.empty()) patch.size = {usual_patch(shape.size)};
}

TokenShape grid_tokens(const VisionModelConfig& config, const VisionShape& shape) {
  TokenShape out;
  out.sizes = nn::grid_patch_counts(shape.size, config.patch.along(shape.size));
  for (int64_t mode = 0; mode < out.modes(); ++mode) out.ordered_modes.push_back(mode);
  return out;
}

}  // namespace modewise::models
