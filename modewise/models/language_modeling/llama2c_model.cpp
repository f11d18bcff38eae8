#include "modewise/models/language_modeling/llama2c_model.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <limits>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/models/file_tensors.h"
#include "modewise/models/language_modeling/files.h"

namespace modewise::models {
namespace {

constexpr double kLlama2cEpsilon = 1e-5;
constexpr double kLlama2cBase = 10000;

at::Tensor tensor_of(std::span<const std::byte> bytes, at::IntArrayRef sizes) {
  at::Tensor out = at::empty(sizes, at::kFloat);
  std::memcpy(out.mutable_data_ptr(), bytes.data(), bytes.size());
  return out;
}

/// Permutes the rows of each head of [H·d, D] from pairs to halves.
at::Tensor pairs_to_halves(const at::Tensor& weight, int64_t head_width) {
  return weight.unflatten(0, {-1, head_width / 2, 2}).transpose(1, 2).flatten(0, 2);
}
/// The inverse permutation.
at::Tensor halves_to_pairs(const at::Tensor& weight, int64_t head_width) {
  return weight.unflatten(0, {-1, 2, head_width / 2}).transpose(1, 2).flatten(0, 2);
}

struct NamedPart {
  const char* name;
  io::Llama2cPart part;
};
constexpr NamedPart kLayerParts[] = {
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

constexpr NamedPart kOtherParts[] = {
    {"model.embed_tokens.weight", &io::Llama2cWeights::embedding},
    {"model.norm.weight", &io::Llama2cWeights::final_norm},
    {"lm_head.weight", &io::Llama2cWeights::classifier},
};

bool is_rotated(const NamedPart& part) {
  return part.part == &io::Llama2cWeights::query || part.part == &io::Llama2cWeights::key;
}

std::string layer_name(int64_t layer, const NamedPart& part) {
  return fmt::format("model.layers.{}.{}", layer, part.name);
}

io::Llama2cHeader header_of(const LanguageModelConfig& c, int version) {
  const auto refuse = [](bool wrong, const char* what) {
    require(!wrong, ErrorKind::data, "llama2.c checkpoints do not support {}; save the model as a folder",
            what);
  };
  refuse(c.attention.type != "full", "attention types other than full");
  refuse(c.rope.scaling.kind != "none" || c.rope.scaling.base != kLlama2cBase,
         "rotary scaling, or a rotary base other than 10000");
  refuse(c.norm_epsilon != kLlama2cEpsilon, "a norm_epsilon other than 1e-5");
  refuse(c.head_width * c.heads != c.width, "a head width other than width / heads");
  refuse(c.context > std::numeric_limits<int32_t>::max(), "contexts longer than 2147483647 tokens");
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
  out.attention.type = "full";
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
  for (const NamedPart& part : kLayerParts) {
    const std::span<const std::byte> all = checkpoint.weights.*part.part;
    const size_t bytes = all.size() / static_cast<size_t>(h.layers);
    for (int64_t layer = 0; layer < h.layers; ++layer) {
      at::Tensor& parameter = parameters[layer_name(layer, part)];
      const at::Tensor loaded =
          tensor_of(all.subspan(static_cast<size_t>(layer) * bytes, bytes), parameter.sizes());
      parameter.copy_(is_rotated(part) ? pairs_to_halves(loaded, h.head_width()) : loaded);
    }
  }
  for (const NamedPart& part : kOtherParts) {
    if (h.tied && part.part == &io::Llama2cWeights::classifier) continue;
    at::Tensor& parameter = parameters[part.name];
    parameter.copy_(tensor_of(checkpoint.weights.*part.part, parameter.sizes()));
  }
}

void save_llama2c(const std::filesystem::path& path, const LanguageModel& model, int version) {
  const at::NoGradGuard no_grad;
  const io::Llama2cHeader header = header_of(model.config(), version);
  const auto parameters = model.named_parameters();
  const auto give = [&](io::Llama2cPart wanted, const ByteSink& sink) {
    for (const NamedPart& part : kOtherParts)
      if (part.part == wanted) give_bytes(parameters[part.name], at::kFloat, sink);
    for (const NamedPart& part : kLayerParts) {
      if (part.part != wanted) continue;
      for (int64_t layer = 0; layer < header.layers; ++layer) {
        const at::Tensor& weight = parameters[layer_name(layer, part)];
        give_bytes(is_rotated(part) ? halves_to_pairs(weight, header.head_width()) : weight, at::kFloat,
                   sink);
      }
    }
  };
  OutputFile file(path);
  io::write_llama2c(header, give, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.finish();
}

}  // namespace modewise::models
