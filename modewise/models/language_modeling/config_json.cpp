#include "modewise/models/language_modeling/config_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "modewise/core/aliases.h"
#include "modewise/core/error.h"
#include "modewise/models/json_object.h"

namespace modewise::models {
namespace {

constexpr const char* kOwnArchitecture = "ModewiseForCausalLM";

/// Options of generation_config.json that change the text and are not supported, with the value that has no
/// effect; empty lists have none either.
constexpr std::pair<const char*, int> kUnsupportedSampling[] = {{"num_beams", 1},
                                                                {"no_repeat_ngram_size", 0},
                                                                {"encoder_repetition_penalty", 1},
                                                                {"typical_p", 1},
                                                                {"epsilon_cutoff", 0},
                                                                {"eta_cutoff", 0},
                                                                {"penalty_alpha", 0},
                                                                {"min_length", 0},
                                                                {"min_new_tokens", 0},
                                                                {"suppress_tokens", 0},
                                                                {"begin_suppress_tokens", 0},
                                                                {"bad_words_ids", 0},
                                                                {"sequence_bias", 0},
                                                                {"forced_bos_token_id", -1},
                                                                {"forced_eos_token_id", -1},
                                                                {"watermarking_config", 0}};

enum class Architecture { llama, mistral, own };

struct ArchitectureName {
  Architecture architecture;
  const char *name, *type;  // of "architectures" and "model_type"
};

constexpr ArchitectureName kArchitectures[] = {
    {Architecture::llama, "LlamaForCausalLM", "llama"},
    {Architecture::llama, "LLaMAForCausalLM", "llama"},  // the name before transformers 4.28
    {Architecture::mistral, "MistralForCausalLM", "mistral"},
    {Architecture::own, kOwnArchitecture, "modewise"},
};

Architecture read_architecture(const JsonObject& config) {
  const std::vector<std::string> names = config.list<std::string>("architectures");
  const std::string type = config.text("model_type", "");
  const std::string name = names.empty() ? "" : names[0];
  for (const ArchitectureName& one : kArchitectures) {
    if (name.empty() ? type != one.type : name != one.name) continue;
    // transformers' AutoModel goes by model_type.
    require(
        type.empty() || type == one.type, ErrorKind::data,
        "{}: model_type \"{}\" contradicts the architecture {}, which is of model_type \"{}\": correct one "
        "of them",
        config.source(), type, one.name, one.type);
    return one.architecture;
  }
  fail(ErrorKind::data,
       "{}: unsupported architecture {}; supported are LlamaForCausalLM, MistralForCausalLM and modewise "
       "exports",
       config.source(),
       !name.empty()   ? name
       : !type.empty() ? type
                       : "not named");
}

/// Rejects options of transformers that change the function and are not supported here.
void refuse_what_is_missing(const JsonObject& config) {
  const auto refuse = [&](bool found, const char* what) {
    require(!found, ErrorKind::data, "{}: {}", config.source(), what);
  };
  refuse(config.boolean("attention_bias", false),
         "attention_bias is true; attention biases are not supported");
  refuse(config.boolean("mlp_bias", false), "mlp_bias is true; feed-forward biases are not supported");
  refuse(config.has("quantization_config"),
         "quantization_config is set; quantized weights are not supported");
  const std::string activation = config.text("hidden_act", "silu");
  require(activation == "silu" || activation == "swish", ErrorKind::data,
          "{}: hidden_act is \"{}\"; only silu is supported", config.source(), activation);
  refuse(config.number("partial_rotary_factor", 1) != 1,
         "partial_rotary_factor is not 1; partial rotary embedding is not supported");
}

void read_yarn(const JsonObject& rope, int64_t context, nn::RotaryScaling& out) {
  if (!rope.has("factor") && out.original_length > 0)
    out.factor = static_cast<double>(context) / static_cast<double>(out.original_length);
  out.beta_fast = rope.number("beta_fast", 32);
  out.beta_slow = rope.number("beta_slow", 1);
  if (out.beta_fast == 0) out.beta_fast = 32;
  if (out.beta_slow == 0) out.beta_slow = 1;
  out.truncate = rope.boolean("truncate", true);
  const auto magnitude = [&](double scale) {
    return out.factor <= 1 ? 1.0 : 0.1 * scale * std::log(out.factor) + 1.0;
  };
  const double all = rope.number("mscale", 0), all_dim = rope.number("mscale_all_dim", 0);
  if (rope.has("attention_factor"))
    out.gain = rope.number("attention_factor");
  else if (all != 0 && all_dim != 0)
    out.gain = magnitude(all) / magnitude(all_dim);
}

/// `rope` is rope_scaling (older versions of transformers) or rope_parameters (newer ones) of `config`.
void read_scaling(const JsonObject& config, const JsonObject& rope, int64_t context, nn::RotaryScaling& out) {
  out.base = rope.number("rope_theta", out.base);
  require(rope.number("partial_rotary_factor", 1) == 1, ErrorKind::data,
          "{}: partial_rotary_factor is not 1; partial rotary embedding is not supported", rope.source());
  const std::string kind = rope.text("rope_type", rope.text("type", "default"));
  if (kind == "default") return;
  require(kind == "linear" || kind == "yarn" || kind == "llama3", ErrorKind::data,
          "{}: unsupported rotary scaling \"{}\"; supported are default, linear, yarn and llama3{}",
          rope.source(), kind, kind == "dynamic" ? " (dynamic depends on the length of each text)" : "");
  out.kind = kind;
  out.factor = kind == "yarn" ? rope.number("factor", 1) : rope.number("factor");
  const char* original = "original_max_position_embeddings";  // as in transformers, that of the config first
  if (kind != "linear") out.original_length = config.integer(original, rope.integer(original, context));
  if (kind == "yarn") read_yarn(rope, context, out);
  if (kind == "llama3") {
    out.low_frequency_factor = rope.number("low_freq_factor");
    out.high_frequency_factor = rope.number("high_freq_factor");
  }
}

void read_rope(const JsonObject& config, LanguageModelConfig& out) {
  out.rope.scaling.base = config.number("rope_theta", 10000);
  // As in transformers, rope_scaling replaces rope_parameters.
  const bool scaling = config.has("rope_scaling") && !config.value("rope_scaling").empty();
  const char* key = scaling ? "rope_scaling" : "rope_parameters";
  if (config.has(key)) read_scaling(config, config.object(key), out.context, out.rope.scaling);
}

/// Options that only our own exports contain.
void read_own(const JsonObject& own, LanguageModelConfig& out) {
  if (own.has("attention")) {
    const JsonObject attention = own.object("attention");
    out.attention.type = current_attention(attention.text(attention.has("form") ? "form" : "type", "full"));
    out.attention.fold = attention.list<int64_t>("fold");
    out.attention.window = attention.integer("window", 0);
    out.attention.summary_tokens = attention.integer(attention.has("slots") ? "slots" : "summary_tokens", 1);
    out.attention.sinks = attention.integer("sinks", 0);
    out.attention.density = attention.number("density", out.attention.density);
  }
  // Files of earlier versions count all lengths in tokens.
  const bool own_levels = !out.attention.fold.empty() && nn::compares_lengths(out.rope.scaling);
  if (own_levels) out.rope.level_lengths = false;
  if (!own.has("rope")) return;
  const JsonObject rope = own.object("rope");
  out.rope.scaled_level = rope.integer("scaled_level", -1);
  if (own_levels) out.rope.level_lengths = rope.boolean("level_lengths", false);
  if (!rope.has("ntk_factor")) return;
  out.rope.scaling.kind = "ntk";
  out.rope.scaling.base = rope.number("ntk_base");
  out.rope.scaling.factor = rope.number("ntk_factor");
}

void read_attention_type(const JsonObject& config, Architecture architecture, LanguageModelConfig& out) {
  out.attention = {};
  out.attention.type = "full";
  if (architecture == Architecture::mistral &&
      (config.has("sliding_window") || !config.names("sliding_window"))) {
    out.attention.type = "window";
    out.attention.window = config.integer("sliding_window", 4096);
  }
  const std::vector<std::string> types = config.list<std::string>("layer_types");
  if (types.empty()) return;  // all layers have the attention of the architecture
  const std::string& type = types[0];
  for (const std::string& other : types)
    require(other == type, ErrorKind::data,
            "{}: layer_types has {} and {}; only one attention type for all layers is supported",
            config.source(), type, other);
  require(type == "full_attention" || (type == "sliding_attention" && out.attention.type == "window"),
          ErrorKind::data, "{}: layer_types are {}, which {}", config.source(), type,
          type != "sliding_attention"             ? "is not supported"
          : architecture == Architecture::mistral ? "needs a sliding_window"
                                                  : "this architecture does not have");
  if (type == "sliding_attention") return;
  out.attention.type = "full";
  out.attention.window = 0;
}

void write_rope(const LanguageModelConfig& config, nlohmann::ordered_json& out) {
  const nn::RotaryScaling& s = config.rope.scaling;
  double base = s.base;
  if (s.kind == "ntk" && config.head_width > 2) {
    const auto d = static_cast<double>(config.head_width);
    base *= std::pow(s.factor, d / (d - 2));
  }
  nlohmann::ordered_json rope = {{"rope_type", s.kind == "none" || s.kind == "ntk" ? "default" : s.kind},
                                 {"rope_theta", base}};
  if (s.kind == "linear" || s.kind == "yarn" || s.kind == "llama3") rope["factor"] = s.factor;
  if (s.kind == "yarn" || s.kind == "llama3") rope["original_max_position_embeddings"] = s.original_length;
  if (s.kind == "yarn") {
    rope["beta_fast"] = s.beta_fast;
    rope["beta_slow"] = s.beta_slow;
    rope["truncate"] = s.truncate;
    // A level with another factor derives its own attention factor.
    if (s.gain > 0 || config.attention.fold.empty()) rope["attention_factor"] = nn::rotary_gain(s);
  }
  if (s.kind == "llama3") {
    rope["low_freq_factor"] = s.low_frequency_factor;
    rope["high_freq_factor"] = s.high_frequency_factor;
  }
  // Older readers expect rope_theta and rope_scaling, newer ones everything in rope_parameters.
  out["rope_theta"] = base;
  out["rope_scaling"] = rope["rope_type"] == "default" ? nlohmann::ordered_json(nullptr) : rope;
  out["rope_parameters"] = std::move(rope);
}

nlohmann::ordered_json own_object(const LanguageModelConfig& config) {
  nlohmann::ordered_json own = nlohmann::ordered_json::object();
  const LanguageAttentionConfig& a = config.attention;
  if (a.type != "full" && a.type != "window")
    own["attention"] = {{"type", a.type},     {"fold", a.fold},
                        {"window", a.window}, {"summary_tokens", a.summary_tokens},
                        {"sinks", a.sinks},   {"density", a.density}};
  nlohmann::ordered_json rope = nlohmann::ordered_json::object();
  if (config.rope.scaled_level >= 0) rope["scaled_level"] = config.rope.scaled_level;
  if (!a.fold.empty() && nn::compares_lengths(config.rope.scaling))
    rope["level_lengths"] = config.rope.level_lengths;
  if (config.rope.scaling.kind == "ntk") {
    rope["ntk_base"] = config.rope.scaling.base;
    rope["ntk_factor"] = config.rope.scaling.factor;
  }
  if (!rope.empty()) own["rope"] = std::move(rope);
  return own;
}

}  // namespace

LanguageModelConfig parse_language_json(std::string_view json, const std::string& source) {
  const nlohmann::json document = parse_config_json(json, source);
  const JsonObject config(document, "", source);
  const Architecture architecture = read_architecture(config);
  refuse_what_is_missing(config);
  LanguageModelConfig out;
  out.vocabulary = config.integer("vocab_size");
  out.width = config.integer("hidden_size");
  out.hidden = config.integer("intermediate_size");
  out.layers = config.integer("num_hidden_layers");
  out.heads = config.integer("num_attention_heads");
  out.kv_heads = config.integer(
      "num_key_value_heads",
      architecture == Architecture::mistral && !config.names("num_key_value_heads") ? 8 : out.heads);
  out.head_width = config.integer("head_dim", 0);
  out.norm_epsilon = config.number("rms_norm_eps", 1e-6);
  out.tied = config.boolean("tie_word_embeddings", false);
  out.context =
      config.integer("max_position_embeddings", architecture == Architecture::mistral ? 131072 : 2048);
  require(out.hidden >= 1 && out.kv_heads >= 1, ErrorKind::data,
          "{}: intermediate_size and num_key_value_heads must be positive", source);
  read_rope(config, out);
  read_attention_type(config, architecture, out);
  if (config.has("modewise")) read_own(config.object("modewise"), out);
  try {
    out.validate(source);
  } catch (const Error& error) {
    fail(ErrorKind::data, "{}", error.what());  // a file error, not an error of the user's config
  }
  return out.resolved();
}

SpecialIds parse_special_ids(std::string_view json, const std::string& source) {
  const nlohmann::json document = parse_config_json(json, source);
  const JsonObject config(document, "", source);
  SpecialIds out;
  if (config.has("bos_token_id") && config.value("bos_token_id").is_number())
    out.begin = config.integer("bos_token_id");
  if (config.has("eos_token_id")) {
    if (config.value("eos_token_id").is_array())
      out.end = config.list<int64_t>("eos_token_id");
    else
      out.end.push_back(config.integer("eos_token_id"));
  }
  if (!config.has("modewise")) return out;
  const JsonObject own = config.object("modewise");
  if (own.has("begin_token")) out.puts_begin = own.boolean("begin_token", true);
  return out;
}

FileSampling parse_sampling(std::string_view json, const std::string& source) {
  const nlohmann::json document = parse_config_json(json, source);
  const JsonObject config(document, "", source);
  FileSampling out;
  for (const auto& [key, neutral] : kUnsupportedSampling)
    if (config.has(key) && !config.value(key).empty() && config.value(key) != neutral)
      out.unsupported.emplace_back(key);
  const char* keys[] = {"do_sample", "temperature", "top_k", "top_p", "min_p", "repetition_penalty"};
  if (std::ranges::none_of(keys, [&](const char* key) { return config.has(key); })) return out;
  SamplingConfig& sampling = out.sampling.emplace();
  sampling.repetition_penalty = config.number("repetition_penalty", 1);
  sampling.temperature = 0;
  if (!config.boolean("do_sample", false)) return out;
  sampling.temperature = config.number("temperature", 1);
  sampling.top_k = config.integer("top_k", 50);
  sampling.top_p = config.number("top_p", 1);
  sampling.min_p = config.number("min_p", 0);
  return out;
}

std::string format_language_json(const LanguageModelConfig& given, const std::string& dtype,
                                 const SpecialIds& special) {
  const LanguageModelConfig config = given.resolved();
  const std::string& type = config.attention.type;
  const bool window = type == "window", plain = window || type == "full";
  nlohmann::ordered_json out = {
      {"architectures", {plain ? (window ? "MistralForCausalLM" : "LlamaForCausalLM") : kOwnArchitecture}},
      {"model_type", plain ? (window ? "mistral" : "llama") : "modewise"},
      {"vocab_size", config.vocabulary},
      {"hidden_size", config.width},
      {"intermediate_size", config.hidden},
      {"num_hidden_layers", config.layers},
      {"num_attention_heads", config.heads},
      {"num_key_value_heads", config.kv_heads},
      {"head_dim", config.head_width},
      {"hidden_act", "silu"},
      {"rms_norm_eps", config.norm_epsilon},
      {"max_position_embeddings", config.context},
      {"tie_word_embeddings", config.tied},
      {"torch_dtype", dtype}};
  using Mark = nlohmann::ordered_json;
  out["bos_token_id"] = special.begin ? Mark(*special.begin) : Mark(nullptr);
  out["eos_token_id"] = special.end.empty()       ? Mark(nullptr)
                        : special.end.size() == 1 ? Mark(special.end.front())
                                                  : Mark(special.end);
  if (window) {
    out["sliding_window"] = config.attention.window;
  } else {
    out["attention_bias"] = false;
    out["mlp_bias"] = false;
  }
  write_rope(config, out);
  nlohmann::ordered_json own = own_object(config);
  if (special.puts_begin) own["begin_token"] = *special.puts_begin;
  if (!own.empty()) out["modewise"] = std::move(own);
  return out.dump(2) + "\n";
}

}  // namespace modewise::models
