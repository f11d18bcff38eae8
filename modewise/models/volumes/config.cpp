#include "modewise/models/volumes/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/models/volumes/volume_classifier.h"
#include "modewise/nn/grid_patches.h"

namespace modewise::models {

const std::vector<std::string>& volume_model_names() {
  static const std::vector<std::string> names = {"hot",  "transformer", "timesformer",
                                                 "mvit", "resnet18",    "resnet50"};
  return names;
}

bool is_volume_token_model(std::string_view name) {
  return !name.starts_with("resnet");
}

void VolumePatchConfig::fields(Fields& f) {
  f.add(
      "size", size,
      "voxels of a patch along each axis; one number stands for all; empty: chosen, about 7 patches an axis",
      {.min = 1, .max = 1024});
  f.add(
      "embedding", embedding,
      "linear, relu (the paper's), relu_norm (as released: ReLU and BatchNorm), or stem: small convolutions",
      {.one_of = {"linear", "relu", "relu_norm", "stem"}});
  f.add("dropout", dropout, "dropout of the embedded patches", {.min = 0, .max = 0.99});
}

std::vector<int64_t> VolumePatchConfig::along(const std::vector<int64_t>& volume) const {
  if (size.size() > 1) return size;
  return std::vector<int64_t>(volume.size(), size.empty() ? usual_patch(volume) : size.front());
}

int64_t usual_patch(const std::vector<int64_t>& volume) {
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

void VolumeHeadConfig::fields(Fields& f) {
  f.add("pooling", pooling, "what the head makes of the tokens: mean (as released), flatten or attention",
        {.one_of = {"mean", "flatten", "attention"}});
  f.add("dropout", dropout, "dropout before the last linear map", {.min = 0, .max = 0.99});
}

void ResNetConfig::fields(Fields& f) {
  f.add("width", width, "channels of the first stage; each further stage has twice as many",
        {.min = 1, .max = 4096});
}

VolumeModelConfig::VolumeModelConfig() {
  width = 48;
  hidden = 96;
  blocks = 2;
  heads = 4;
  head.pooling = "attention";
}

void VolumeModelConfig::fields(Fields& f) {
  choice_fields(f, *this, volume_model_names(), "its authors'", "the hot family");
  block_fields(f);
  f.group("patch", patch);
  f.group("position", position);
  f.group("attention", attention);
  f.group("head", head);
  f.group("resnet", resnet);
}

void VolumeModelConfig::use_model(std::string new_name) {
  if (!(is_volume_token_model(name) && is_volume_token_model(new_name))) *this = VolumeModelConfig();
  name = std::move(new_name);
}

void VolumeModelConfig::use_preset(std::string new_preset) {
  if (!use_published(*this, std::move(new_preset))) return;
  blocks = 6;
  dropout = 0.1;
  head.pooling = "mean";
}

void VolumeModelConfig::choose_patch(const VolumeShape& shape) {
  if (is_volume_token_model(name) && patch.size.empty()) patch.size = {usual_patch(shape.size)};
}

TokenShape volume_tokens(const VolumeModelConfig& config, const VolumeShape& shape) {
  TokenShape out;
  out.sizes = nn::grid_patch_counts(shape.size, config.patch.along(shape.size));
  for (int64_t mode = 0; mode < out.modes(); ++mode) out.ordered_modes.push_back(mode);
  return out;
}

namespace {

bool volume_model_has(std::string_view name, std::string_view path) {
  if (path == "name" || path == "precision") return true;
  if (!is_volume_token_model(name)) return path.starts_with("resnet.");
  if (path.starts_with("resnet.") || path == "position.identity") return false;
  if (name == "mvit" && (path.starts_with("position.rotary") || path == "attention.query_key_norm"))
    return false;
  for (const char* option :
       {"attention.combine", "attention.pooling", "attention.share_modes", "attention.attend_modes"})
    if (path == option) return name == "hot";
  if (path == "attention.features" || path == "attention.feature_map")
    return name == "hot" || name == "transformer";
  return true;
}

void check_patches(const VolumeModelConfig& config, const VolumeShape& shape, const std::string& source) {
  const std::vector<int64_t>& size = config.patch.size;
  require(size.size() <= 1 || size.size() == shape.size.size(), ErrorKind::config,
          "{}: patch.size holds {} sizes [{}], but the volumes have {} axes", source, size.size(),
          fmt::join(size, ", "), shape.size.size());
  const std::vector<int64_t> along = config.patch.along(shape.size);
  for (size_t i = 0; i < along.size(); ++i)
    require(along[i] <= shape.size[i], ErrorKind::config,
            "{}: patch.size = {} is larger than the {} voxels along axis {}", source, along[i], shape.size[i],
            i);
  if (config.patch.embedding != "stem") return;
  const bool equal = std::all_of(along.begin(), along.end(), [&](int64_t p) { return p == along.front(); });
  require(equal && along.front() >= 2 && (along.front() & (along.front() - 1)) == 0, ErrorKind::config,
          "{}: patch.embedding = \"stem\" needs one patch.size that is a power of 2, got [{}]", source,
          fmt::join(size, ", "));
}

}  // namespace

void validate(const VolumeModelConfig& config, const VolumeShape& shape, const std::string& source) {
  check_options(config, is_volume_token_model(config.name), volume_model_names(), volume_model_has, source);
  require(!shape.size.empty() && shape.classes >= 2, ErrorKind::config,
          "{}: a classifier needs volumes and at least 2 classes, got {}", source, shape.classes);
  if (is_volume_token_model(config.name)) {
    check_patches(config, shape, source);
    validate_encoder(config, volume_tokens(config, shape), source);
    require(config.attention.kernel != "linear" || config.name == "hot" || config.name == "transformer",
            ErrorKind::config,
            "{}: attention.kernel = \"linear\" is an option of hot and transformer, not of {}", source,
            config.name);
  } else {
    require(!shape.missing, ErrorKind::config,
            "{}: {} takes no masks, but some voxels are missing or the volumes differ in size; data.size "
            "resamples "
            "them to one size",
            source, config.name);
    require(shape.size.size() <= 3, ErrorKind::config, "{}: {} is for up to 3 axes, the volumes have {}",
            source, config.name, shape.size.size());
  }
}

}  // namespace modewise::models
