#include "modewise/models/language_modeling/files.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/memory.h"
#include "modewise/io/arrays/safetensors_shards.h"
#include "modewise/models/file_tensors.h"
#include "modewise/models/language_modeling/latents.h"
#include "modewise/models/language_modeling/llama2c_model.h"
#include "modewise/ops/attention/attention_types.h"
#include "modewise/text/load_tokenizer.h"

namespace modewise::models {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGenerationConfig = "generation_config.json";

/// Redundant tensors in files: tables derived from the config, and a tied head.
bool is_known_extra(const std::string& name, const LanguageModelConfig& config) {
  return name.ends_with(".rotary_emb.inv_freq") || (config.tied && name == "lm_head.weight");
}

/// The file's tensors by name, each checked against the file's `config`.
std::map<std::string, io::TensorView> checked_tensors(const io::SafetensorsFolder& file,
                                                      const LanguageModelConfig& config,
                                                      const std::string& folder) {
  std::map<std::string, io::TensorView> found;
  for (io::TensorView& tensor : file.tensors()) found.emplace(tensor.name, std::move(tensor));
  std::set<std::string> known;
  for (const LanguageTensor& wanted : language_tensors(config)) {
    known.insert(wanted.name);
    const auto entry = found.find(wanted.name);
    if (entry == found.end() && wanted.optional) continue;
    require(entry != found.end(), ErrorKind::data, "{}: the weights have no tensor '{}' of shape [{}]",
            folder, wanted.name, fmt::join(wanted.shape, ", "));
    const io::TensorView& view = entry->second;
    require(view.shape == wanted.shape, ErrorKind::data,
            "{}: according to config.json (hidden_size {}, num_attention_heads {}, num_key_value_heads {}, "
            "head_dim {}, "
            "intermediate_size {}, vocab_size {}) the tensor '{}' is [{}], but its file has [{}]",
            folder, config.width, config.heads, config.kv_heads, config.head_width, config.hidden,
            config.vocabulary, wanted.name, fmt::join(wanted.shape, ", "), fmt::join(view.shape, ", "));
    require(float_type(view.dtype).has_value(), ErrorKind::data,
            "{}: the tensor '{}' has dtype {}; supported are F32, F64, F16 and BF16", folder, wanted.name,
            view.dtype);
  }
  for (const auto& [name, view] : found)
    require(known.contains(name) || is_known_extra(name, config), ErrorKind::data,
            "{}: unexpected tensor '{}' for a model of {} layers", folder, name, config.layers);
  return found;
}

/// The dtype of the weights, after checking that memory suffices.
at::ScalarType checked_type(const LanguageModelConfig& config, KeptWeights kept, const std::string& source) {
  const bool narrow = kept == KeptWeights::as_activated && config.precision == "bf16";
  const double needed = static_cast<double>(config.parameters()) * (narrow ? 2 : 4);
  const auto there = static_cast<double>(available_memory());
  require(needed <= 0.9 * there, ErrorKind::general,
          "{}: {} weights in {} need {}, but only {} of memory are free{}", source, config.parameters(),
          narrow ? "bfloat16" : "float32", memory_text(needed), memory_text(there),
          kept == KeptWeights::as_activated && !narrow ? "; --precision bf16 needs half as much" : "");
  return narrow ? at::kBFloat16 : at::kFloat;
}

std::shared_ptr<LanguageModel> build_from(const std::map<std::string, io::TensorView>& tensors,
                                          const LanguageModelConfig& config, at::ScalarType type,
                                          std::vector<std::string>& notes) {
  const at::NoGradGuard no_grad;
  auto model = make_unset_language_model(config, type);
  std::set<std::string> latents;
  for (auto& item : model->named_parameters()) {
    if (item.key().ends_with(".latents")) {
      latents.insert(item.key());
      continue;
    }
    const auto entry = tensors.find(item.key());
    require(entry != tensors.end() && entry->second.shape == item.value().sizes().vec(), ErrorKind::config,
            "the weights do not match: with these settings the model has {} of shape [{}]", item.key(),
            fmt::join(item.value().sizes(), ", "));
    copy_view(entry->second, item.value());
  }
  notes = take_latents(*model, [&](const std::string& name) {
    const auto entry = tensors.find(name);
    if (entry == tensors.end()) return at::Tensor();
    const at::Tensor had = at::empty(entry->second.shape, at::kFloat);
    copy_view(entry->second, had);
    return had;
  });
  const auto unused = std::count_if(tensors.begin(), tensors.end(), [&](const auto& entry) {
    return entry.first.ends_with(".latents") && !latents.contains(entry.first);
  });
  if (unused > 0) notes.push_back(fmt::format("ignored the latents of {} layers", unused));
  return model;
}

LanguageModelConfig read_config(const fs::path& folder) {
  const fs::path json = folder / "config.json";
  return parse_language_json(read_file(json), json.string());
}

/// Unties the embeddings, as transformers 5 does, if the file has an output layer with other values. Returns
/// whether it has.
bool untie_if_different(LanguageModelConfig& config, const io::SafetensorsFolder& file) {
  if (!config.tied) return false;
  const auto words = file.find("model.embed_tokens.weight"), head = file.find("lm_head.weight");
  if (!words || !head || equal_views(*words, *head)) return false;
  config.tied = false;
  return true;
}

void check_tied(const LanguageModelConfig& wanted, const LanguageModelConfig& had, const fs::path& source) {
  require(wanted.tied == had.tied, ErrorKind::config,
          "tied = {} does not match the weights of {}, which have {}", wanted.tied, source.string(),
          had.tied);
}

/// The special tokens of config.json, with the end ids of generation_config.json.
SpecialIds special_of(const fs::path& folder) {
  const auto read = [&](const char* name) {
    return parse_special_ids(read_file(folder / name), (folder / name).string());
  };
  SpecialIds out = read("config.json");
  if (!fs::exists(folder / kGenerationConfig)) return out;
  for (const int64_t id : read(kGenerationConfig).end)
    if (std::find(out.end.begin(), out.end.end(), id) == out.end.end()) out.end.push_back(id);
  return out;
}

LoadedLanguageModel load_folder(const fs::path& folder, const AdjustConfig& adjust, KeptWeights kept) {
  LoadedLanguageModel out;
  out.folder = folder;
  LanguageModelConfig of_file = read_config(folder);
  out.special = special_of(folder);
  if (const fs::path json = folder / kGenerationConfig; fs::exists(json))
    out.sampling = parse_sampling(read_file(json), json.string());
  const io::SafetensorsFolder file(folder);
  const bool untied = untie_if_different(of_file, file);
  LanguageModelConfig config = of_file;
  if (adjust) adjust(config);
  check_tied(config, of_file, folder);
  config.validate(folder.string());
  const std::map<std::string, io::TensorView> tensors = checked_tensors(file, of_file, folder.string());
  out.model = build_from(tensors, config.resolved(), checked_type(config, kept, folder.string()), out.notes);
  if (untied)
    out.notes.push_back(
        "lm_head.weight is kept, as by transformers 5: tie_word_embeddings is true, but the tensor differs "
        "from "
        "model.embed_tokens.weight");
  out.set_tokenizer(text::find_tokenizer(folder.string(), out.notes));
  out.layout = "hugging face";
  return out;
}

LoadedLanguageModel load_llama2c(const fs::path& path, const AdjustConfig& adjust, KeptWeights kept) {
  LoadedLanguageModel out;
  const io::MappedFile file(path);
  const io::Llama2cCheckpoint checkpoint = io::parse_llama2c(file.bytes(), path.string());
  const LanguageModelConfig of_file = llama2c_config(checkpoint.header, path.string());
  LanguageModelConfig config = of_file;
  if (adjust) adjust(config);
  check_tied(config, of_file, path);
  config.validate(path.string());
  out.model = make_unset_language_model(config, checked_type(config, kept, path.string()));
  set_llama2c_weights(checkpoint, *out.model);
  out.notes = take_latents(*out.model, [](const std::string&) { return at::Tensor(); });
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const std::string& name : {fmt::format("tok{}.bin", checkpoint.header.vocabulary),
                                  std::string("tokenizer.bin"), std::string("tokenizer.model")})
    if (!out.tokenizer && fs::exists(folder / name))
      out.tokenizer = text::find_tokenizer((folder / name).string(), out.notes);
  if (out.tokenizer && out.tokenizer->size() != checkpoint.header.vocabulary) {
    out.notes.push_back(fmt::format("ignored {}: it has {} tokens, but the model {}",
                                    out.tokenizer->file().string(), out.tokenizer->size(),
                                    checkpoint.header.vocabulary));
    out.tokenizer = nullptr;
  }
  out.layout = fmt::format("llama2.c version {}", checkpoint.header.version);
  return out;
}

/// Writes all files of a model, config.json last.
void write_files(const fs::path& folder, const LanguageModel& model, const SaveLanguageOptions& options) {
  const bool narrow = options.dtype == "bfloat16";
  const auto parameters = model.named_parameters();
  std::vector<io::TensorSource> sources;
  for (const LanguageTensor& entry : language_tensors(model.config())) {
    const at::Tensor tensor = parameters[entry.name].detach();
    sources.push_back({entry.name, narrow ? "BF16" : "F32", tensor.sizes().vec(),
                       [tensor, type = narrow ? at::kBFloat16 : at::kFloat](const ByteSink& sink) {
                         give_bytes(tensor, type, sink);
                       }});
  }
  io::write_safetensors_folder(folder, sources, {{"format", "pt"}}, options.shard_bytes);
  SpecialIds special = options.special;
  if (options.tokenizer) {
    text::keep_tokenizer(*options.tokenizer, folder);
    if (!special.begin) special.begin = options.tokenizer->begin_id();
    if (special.end.empty() && options.tokenizer->end_id()) special.end = {*options.tokenizer->end_id()};
  }
  if (const fs::path kept = options.keep_from / kGenerationConfig;
      !options.keep_from.empty() && fs::exists(kept))
    write_file_atomically(folder / kGenerationConfig, io::MappedFile(kept).bytes());
  write_file_atomically(folder / "config.json", format_language_json(model.config(), options.dtype, special));
}

}  // namespace

std::vector<LanguageTensor> language_tensors(const LanguageModelConfig& given) {
  const LanguageModelConfig c = given.resolved();
  const int64_t query = c.heads * c.head_width, key = c.kv_heads * c.head_width;
  const int64_t levels = ops::latent_levels(c.attention_options());
  std::vector<LanguageTensor> out = {{"model.embed_tokens.weight", {c.vocabulary, c.width}, false}};
  for (int64_t i = 0; i < c.layers; ++i) {
    const auto add = [&](const char* name, std::vector<int64_t> shape, bool optional = false) {
      out.push_back({fmt::format("model.layers.{}.{}", i, name), std::move(shape), optional});
    };
    add("input_layernorm.weight", {c.width});
    add("self_attn.q_proj.weight", {query, c.width});
    add("self_attn.k_proj.weight", {key, c.width});
    add("self_attn.v_proj.weight", {key, c.width});
    add("self_attn.o_proj.weight", {c.width, query});
    if (levels > 0)
      add("self_attn.latents", {levels, c.kv_heads, c.attention.summary_tokens, c.head_width}, true);
    add("post_attention_layernorm.weight", {c.width});
    add("mlp.gate_proj.weight", {c.hidden, c.width});
    add("mlp.up_proj.weight", {c.hidden, c.width});
    add("mlp.down_proj.weight", {c.width, c.hidden});
  }
  out.push_back({"model.norm.weight", {c.width}, false});
  if (!c.tied) out.push_back({"lm_head.weight", {c.vocabulary, c.width}, false});
  return out;
}

void LoadedLanguageModel::set_tokenizer(std::shared_ptr<text::Tokenizer> other) {
  tokenizer = std::move(other);
  if (tokenizer && special.puts_begin) tokenizer->set_puts_begin(*special.puts_begin);
}

fs::path language_model_folder(const fs::path& path) {
  if (!fs::is_directory(path)) return {};
  for (const fs::path& folder : {path, path / "model"})
    if (fs::exists(folder / "config.json")) return folder;
  fail(ErrorKind::no_input, "{} contains no model: neither config.json nor model/config.json exists",
       path.string());
}

LoadedLanguageModel load_language_model(const fs::path& path, const AdjustConfig& adjust, KeptWeights kept) {
  const fs::path folder = language_model_folder(path);
  return folder.empty() ? load_llama2c(path, adjust, kept) : load_folder(folder, adjust, kept);
}

LanguageModelConfig load_language_model_config(const fs::path& path) {
  const fs::path folder = language_model_folder(path);
  if (!folder.empty()) {
    LanguageModelConfig config = read_config(folder);
    if (config.tied && io::SafetensorsFolder::is_one(folder))
      untie_if_different(config, io::SafetensorsFolder(folder));
    return config;
  }
  const io::MappedFile file(path);
  return llama2c_config(io::parse_llama2c(file.bytes(), path.string()).header, path.string());
}

bool holds_language_model(const fs::path& folder) {
  return io::SafetensorsFolder::is_one(folder) || fs::exists(folder / "config.json");
}

void remove_language_model(const fs::path& folder) {
  fs::remove(folder / "config.json");
  fs::remove(folder / kGenerationConfig);
  text::remove_tokenizer(folder);
  for (const fs::path& path : entries_of(folder)) {
    const std::string name = path.filename().string();
    if (name.starts_with("model") &&
        (name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json")))
      fs::remove(path);
  }
}

void save_language_model(const fs::path& out, const LanguageModel& model,
                         const SaveLanguageOptions& options) {
  require(!holds_language_model(out), ErrorKind::cannot_create, "{} already contains a model", out.string());
  require(options.dtype == "bfloat16" || options.dtype == "float32", ErrorKind::usage,
          "models are saved as float32 or bfloat16, not as {}", options.dtype);
  write_folder_atomically(out, [&](const fs::path& folder) { write_files(folder, model, options); });
}

}  // namespace modewise::models
