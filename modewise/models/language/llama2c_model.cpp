#include "modewise/models/language/llama2c_model.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>

#include <cstring>
#include <limits>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/models/language/files.h"

namespace modewise::models {
namespace {

constexpr double kLlama2cEpsilon = 1e-5;
constexpr double kLlama2cBase = 10000;

at::Tensor tensor_of(std::span<const std::byte> bytes, at::IntArrayRef sizes) {
  at::Tensor out = at::empty(sizes, at::kFloat);
  std::memcpy(out.mutable_data_ptr(), bytes.data(), bytes.size());
  return out;
}

/// [H·d, D] with the rows of each head as pairs -> as halves.
at::Tensor pairs_to_halves(const at::Tensor& weight, int64_t head_width) {
  return weight.unflatten(0, {-1, head_width / 2, 2}).transpose(1, 2).flatten(0, 2);
}
/// [L, H·d, D] back.
at::Tensor halves_to_pairs(const at::Tensor& weight, int64_t head_width) {
  return weight.unflatten(1, {-1, 2, head_width / 2}).transpose(2, 3).flatten(1, 3);
}

struct LayerPart {
  const char* name;
  std::span<const std::byte> io::Llama2cWeights::*part;
};
constexpr LayerPart kLayerParts[] = {
    {"input_layernorm.weight", &io::Llama2cWeights::attention_norm},
    {"self_attn.q_proj.weight", &io::Llama2cWeights::query},
    {"self_attn.k_proj.weight", &io::Llama2cWeights::key},
    {"self_attn.v_proj.weight", &io::Llama2cWeights::value},
    {"self_attn.o_proj.weight", &io::Llama2cWeights::out},
    {"post_attention_layernorm.weight", &io::Llama2cWeights::feed_norm},
    {"mlp.gate_proj.weight", &io::Llama2cWeights::gate},
    {"mlp.down_proj.weight", &io::Llama2cWeights::down},
    {"mlp.up_proj.weight", &io::Llama2cWeights::up},
};

bool is_rotated(const LayerPart& part) {
  return part.part == &io::Llama2cWeights::query || part.part == &io::Llama2cWeights::key;
}

std::string layer_name(int64_t layer, const LayerPart& part) {
  return fmt::format("model.layers.{}.{}", layer, part.name);
}

io::Llama2cHeader header_of(const LanguageModelConfig& c, int version) {
  const auto refuse = [](bool wrong, const char* what) {
    require(!wrong, ErrorKind::data, "llama2.c's checkpoints cannot say {}; save the model as a folder",
            what);
  };
  refuse(c.attention.form != "full", "any other attention than full");
  refuse(c.rope.scaling.kind != "none" || c.rope.scaling.base != kLlama2cBase,
         "scaled rotary codes or another base than 10000");
  refuse(c.norm_epsilon != kLlama2cEpsilon, "another norm_epsilon than 1e-5");
  refuse(c.head_width * c.heads != c.width, "heads of another width than width / heads");
  refuse(c.context > std::numeric_limits<int32_t>::max(), "a context of more than 2147483647 tokens");
  return {.version = version,
          .width = static_cast<int32_t>(c.width),
          .hidden = static_cast<int32_t>(c.hidden),
          .layers = static_cast<int32_t>(c.layers),
          .heads = static_cast<int32_t>(c.heads),
          .kv_heads = static_cast<int32_t>(c.kv_heads),
          .vocabulary = static_cast<int32_t>(c.vocabulary),
          .context = static_cast<int32_t>(c.context),
          .tied = c.tied};
}

}  // namespace

LanguageModelConfig llama2c_config(const io::Llama2cHeader& header, const std::string& source) {
  LanguageModelConfig out;
  out.vocabulary = header.vocabulary;
  out.width = header.width;
  out.hidden = header.hidden;
  out.layers = header.layers;
  out.heads = header.heads;
  out.kv_heads = header.kv_heads;
  out.norm_epsilon = kLlama2cEpsilon;
  out.tied = header.tied;
  out.context = header.context;
  out.rope.scaling.base = kLlama2cBase;
  out.attention.form = "full";
  try {
    out.validate(source);
  } catch (const Error& error) {
    fail(ErrorKind::data, "{}", error.what());
  }
  return out.resolved();
}

void set_llama2c_weights(const io::Llama2cCheckpoint& checkpoint, LanguageModel& model) {
  const at::NoGradGuard no_grad;
  auto parameters = model.named_parameters();
  const io::Llama2cHeader& h = checkpoint.header;
  for (const LayerPart& part : kLayerParts) {
    const std::span<const std::byte> all = checkpoint.weights.*part.part;
    const size_t bytes = all.size() / static_cast<size_t>(h.layers);
    for (int64_t layer = 0; layer < h.layers; ++layer) {
      at::Tensor& parameter = parameters[layer_name(layer, part)];
      const at::Tensor loaded =
          tensor_of(all.subspan(static_cast<size_t>(layer) * bytes, bytes), parameter.sizes());
      parameter.copy_(is_rotated(part) ? pairs_to_halves(loaded, h.head_width()) : loaded);
    }
  }
  const auto set = [&](const char* name, std::span<const std::byte> bytes) {
    at::Tensor& parameter = parameters[name];
    parameter.copy_(tensor_of(bytes, parameter.sizes()));
  };
  set("model.embed_tokens.weight", checkpoint.weights.embedding);
  set("model.norm.weight", checkpoint.weights.final_norm);
  if (!h.tied) set("lm_head.weight", checkpoint.weights.classifier);
}

void save_llama2c(const std::filesystem::path& path, const LanguageModel& model, int version) {
  const at::NoGradGuard no_grad;
  io::Llama2cCheckpoint checkpoint{.header = header_of(model.config(), version), .weights = {}};
  const auto parameters = model.named_parameters();
  std::vector<at::Tensor> alive;
  const auto bytes_of = [&](const at::Tensor& tensor) {
    alive.push_back(tensor.detach().to(at::kFloat).contiguous());
    return std::span(static_cast<const std::byte*>(alive.back().const_data_ptr()), alive.back().nbytes());
  };
  for (const LayerPart& part : kLayerParts) {
    std::vector<at::Tensor> layers;
    for (int64_t layer = 0; layer < checkpoint.header.layers; ++layer)
      layers.push_back(parameters[layer_name(layer, part)].detach());
    at::Tensor all = at::stack(layers);
    if (is_rotated(part)) all = halves_to_pairs(all, checkpoint.header.head_width());
    checkpoint.weights.*part.part = bytes_of(all);
  }
  checkpoint.weights.embedding = bytes_of(parameters["model.embed_tokens.weight"]);
  checkpoint.weights.final_norm = bytes_of(parameters["model.norm.weight"]);
  if (!model.config().tied) checkpoint.weights.classifier = bytes_of(parameters["lm_head.weight"]);
  write_file_atomically(path, io::format_llama2c(checkpoint));
}

}  // namespace modewise::models
