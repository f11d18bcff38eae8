// Loading ViT from Hugging Face folders.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/arrays/safetensors_shards.h"
#include "modewise/models/file_tensors.h"
#include "modewise/models/json_object.h"
#include "modewise/models/pretrained_head.h"
#include "modewise/models/vision/vision_transformer.h"

namespace modewise::models {
namespace {

namespace fs = std::filesystem;

struct VitSizes {
  int64_t width, hidden, blocks, heads, channels;
  std::vector<int64_t> image, patch;  // rows, columns
  std::vector<std::string> labels;    // class names of its head
  int64_t tokens() const { return (image[0] / patch[0]) * (image[1] / patch[1]); }
};

struct VitTensor {
  std::string own, file;
  std::vector<int64_t> shape;  // shape in the file
};

/// Reads a number, or a list of rows and columns.
std::vector<int64_t> rows_and_columns(const JsonObject& config, const char* key, int64_t otherwise) {
  if (!config.has(key) || !config.value(key).is_array()) {
    const int64_t both = config.integer(key, otherwise);
    return {both, both};
  }
  std::vector<int64_t> out = config.list<int64_t>(key);
  require(out.size() == 2, ErrorKind::data, "{}: {} must be one or two numbers, got {}", config.source(), key,
          out.size());
  return out;
}

VitSizes parse_vit_sizes(std::string_view json, const std::string& source) {
  const nlohmann::json document = parse_config_json(json, source);
  const JsonObject config(document, "", source);
  const std::vector<std::string> names = config.list<std::string>("architectures");
  const std::string type = config.text("model_type", "");
  const bool known = names.empty() ? type == "vit" : names[0].starts_with("ViT");
  require(known, ErrorKind::data, "{}: unsupported architecture {} (model_type \"{}\"); supported is ViT",
          source, names.empty() ? "not named" : names[0], type);
  const std::string activation = config.text("hidden_act", "gelu");
  require(activation == "gelu", ErrorKind::data, "{}: hidden_act is \"{}\"; only gelu is supported", source,
          activation);
  require(config.boolean("qkv_bias", true), ErrorKind::data,
          "{}: qkv_bias is false; only attention with biases is supported", source);
  const double epsilon = config.number("layer_norm_eps", 1e-12);
  require(epsilon == 1e-12, ErrorKind::data, "{}: layer_norm_eps is {}; only 1e-12 is supported", source,
          epsilon);
  VitSizes out = {.width = config.integer("hidden_size", 768),
                  .hidden = config.integer("intermediate_size", 3072),
                  .blocks = config.integer("num_hidden_layers", 12),
                  .heads = config.integer("num_attention_heads", 12),
                  .channels = config.integer("num_channels", 3),
                  .image = rows_and_columns(config, "image_size", 224),
                  .patch = rows_and_columns(config, "patch_size", 16),
                  .labels = read_label_names(config)};
  for (const int64_t size : {out.width, out.hidden, out.blocks, out.heads, out.channels, out.image[0],
                             out.image[1], out.patch[0], out.patch[1]})
    require(size >= 1 && size <= 65536, ErrorKind::data, "{}: unsupported size {}; supported are 1 to 65536",
            source, size);
  require(out.width % out.heads == 0, ErrorKind::data,
          "{}: hidden_size {} must be a multiple of num_attention_heads {}", source, out.width, out.heads);
  require(out.image[0] % out.patch[0] == 0 && out.image[1] % out.patch[1] == 0, ErrorKind::data,
          "{}: image_size {} must be a multiple of patch_size {}", source, fmt::join(out.image, " × "),
          fmt::join(out.patch, " × "));
  return out;
}

std::vector<VitTensor> vit_tensors(const VitSizes& s) {
  const int64_t w = s.width;
  std::vector<VitTensor> out = {{"emb.conv.0.weight",
                                 "embeddings.patch_embeddings.projection.weight",
                                 {w, s.channels, s.patch[0], s.patch[1]}},
                                {"emb.conv.0.bias", "embeddings.patch_embeddings.projection.bias", {w}},
                                {"class_code", "embeddings.cls_token", {1, 1, w}},
                                {"positions", "embeddings.position_embeddings", {1, 1 + s.tokens(), w}},
                                {"norm.weight", "layernorm.weight", {w}},
                                {"norm.bias", "layernorm.bias", {w}}};
  for (int64_t i = 0; i < s.blocks; ++i) {
    const auto add = [&](const char* own, const char* file, int64_t rows, int64_t columns) {
      const std::string ours = fmt::format("blocks.{}.{}", i, own);
      const std::string theirs = fmt::format("encoder.layer.{}.{}", i, file);
      const bool norm = columns == 0;
      out.push_back({ours + ".weight", theirs + ".weight",
                     norm ? std::vector<int64_t>{rows} : std::vector<int64_t>{rows, columns}});
      out.push_back({ours + ".bias", theirs + ".bias", {rows}});
    };
    add("norm1", "layernorm_before", w, 0);
    add("attention.query_proj", "attention.attention.query", w, w);
    add("attention.key_proj", "attention.attention.key", w, w);
    add("attention.value_proj", "attention.attention.value", w, w);
    add("attention.out_proj", "attention.output.dense", w, w);
    add("norm2", "layernorm_after", w, 0);
    add("feedforward.linear1", "intermediate.dense", s.hidden, w);
    add("feedforward.linear2", "output.dense", w, s.hidden);
  }
  return out;
}

/// Looks up a tensor by name, with or without the prefix "vit." of models with a head.
std::optional<io::TensorView> find_tensor(const io::SafetensorsFolder& file, const std::string& name) {
  const auto found = file.find("vit." + name);
  return found ? found : file.find(name);
}

/// All expected tensors, checked against the sizes.
std::vector<std::pair<std::string, io::TensorView>> checked_tensors(const io::SafetensorsFolder& file,
                                                                    const VitSizes& sizes,
                                                                    const std::string& folder) {
  std::vector<std::pair<std::string, io::TensorView>> out;
  for (const VitTensor& wanted : vit_tensors(sizes)) {
    const auto view = find_tensor(file, wanted.file);
    require(view.has_value(), ErrorKind::data, "{}: the weights have no tensor '{}' of shape [{}]", folder,
            wanted.file, fmt::join(wanted.shape, ", "));
    require(view->shape == wanted.shape, ErrorKind::data,
            "{}: according to config.json the tensor '{}' is [{}], but its file has [{}]", folder,
            wanted.file, fmt::join(wanted.shape, ", "), fmt::join(view->shape, ", "));
    require(float_type(view->dtype).has_value(), ErrorKind::data,
            "{}: the tensor '{}' has dtype {}; supported are F32, F64, F16 and BF16", folder, wanted.file,
            view->dtype);
    out.emplace_back(wanted.own, *view);
  }
  const std::string beyond = fmt::format("encoder.layer.{}.layernorm_before.weight", sizes.blocks);
  require(!find_tensor(file, beyond), ErrorKind::data, "{}: unexpected tensor '{}' for a model of {} layers",
          folder, beyond, sizes.blocks);
  return out;
}

VitSizes read_vit_sizes(const std::string& folder) {
  const fs::path json = fs::path(folder) / "config.json";
  return parse_vit_sizes(read_file(json), json.string());
}

}  // namespace

void take_vit_sizes(VisionModelConfig& config, const VisionShape& shape) {
  const std::string& folder = config.vit.from;
  if (config.name != "vit" || folder.empty()) return;
  const VitSizes sizes = read_vit_sizes(folder);
  checked_tensors(io::SafetensorsFolder(folder), sizes, folder);
  require(shape.size == sizes.image && shape.channels == sizes.channels, ErrorKind::data,
          "{} is for images of {} pixels and {} channels, but the data has {} and {}; data.size and "
          "data.channels convert images",
          folder, fmt::join(sizes.image, " × "), sizes.channels, fmt::join(shape.size, " × "),
          shape.channels);
  config.width = sizes.width;
  config.hidden = sizes.hidden;
  config.blocks = sizes.blocks;
  config.heads = sizes.heads;
  config.patch.size = sizes.patch;
}

std::vector<std::string> VisionTransformer::take_weights(const std::string& folder,
                                                         const std::vector<std::string>& names) {
  const at::NoGradGuard no_grad;
  const VitSizes sizes = read_vit_sizes(folder);
  const io::SafetensorsFolder file(folder);
  auto parameters = named_parameters();
  for (const auto& [own, view] : checked_tensors(file, sizes, folder)) {
    const at::Tensor& into = parameters[own];
    int64_t there = 1;
    for (const int64_t n : view.shape) there *= n;
    require(into.defined() && into.numel() == there, ErrorKind::config,
            "{}: the weights do not match: with these settings the model has {} of shape [{}]", folder, own,
            fmt::join(into.sizes(), ", "));
    copy_view(view, into);
  }
  const auto weight = file.find("classifier.weight"), bias = file.find("classifier.bias");
  const std::vector<int64_t> wanted = {classes(), sizes.width};
  if (!weight || !bias || weight->shape != wanted || bias->shape != std::vector<int64_t>{classes()} ||
      !float_type(weight->dtype) || !float_type(bias->dtype))
    return {fmt::format("the head is newly initialized: {} has none for {} classes", folder, classes())};
  const HeadRows matched = names.empty() ? HeadRows() : match_head_rows(sizes.labels, names);
  std::vector<std::string> notes;
  if (!matched.note.empty()) notes.push_back(matched.note);
  if (!names.empty() && !matched.rows) return notes;
  for (const auto& [own, view] : {std::pair("head.weight", *weight), std::pair("head.bias", *bias)}) {
    const at::Tensor& into = parameters[own];
    copy_view(view, into);
    if (matched.rows) into.copy_(into.index_select(0, at::tensor(*matched.rows, at::kLong)));
  }
  return notes;
}

}  // namespace modewise::models
