#include "modewise/models/language_modeling/config.h"

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {
namespace {

/// Default fold: three modes of about the cube root of the context, powers of two; the first grows.
std::vector<int64_t> default_fold(int64_t context) {
  int64_t side = 2;
  while (side < 64 && side * side * side < context) side *= 2;
  return {0, side, side};
}

void check_attention(const LanguageAttentionConfig& a, const std::string& source) {
  const ops::AttentionType& type = ops::attention_type(a.type);
  require(type.causal, ErrorKind::config,
          "{}: attention.type = \"{}\" is not causal: its weights depend on later tokens, which "
          "a language model must not read; choose another type",
          source, a.type);
  a.validate(source);
  const auto unused = [&](bool given, const char* name) {
    require(!given, ErrorKind::config, "{}: attention.{} has no effect with attention.type = \"{}\"", source,
            name, a.type);
  };
  unused(!type.sinks && a.sinks != 0, "sinks");
  // A causal window counts tokens.
  unused((!type.density || type.window) && a.density != LanguageAttentionConfig().density, "density");
  require(a.density > 0, ErrorKind::config, "{}: attention.density must be above 0", source);
}

void check_rope(const RopeConfig& rope, int64_t modes, const std::string& source) {
  const nn::RotaryScaling& s = rope.scaling;
  require(s.kind == "none" || s.factor >= 1, ErrorKind::config, "{}: rope.factor must be at least 1, got {}",
          source, s.factor);
  require((s.kind != "yarn" && s.kind != "llama3") || s.original_length >= 1, ErrorKind::config,
          "{}: rope.scaling = \"{}\" needs rope.original_length, the trained context length before scaling",
          source, s.kind);
  require(s.kind != "llama3" || s.high_frequency_factor > s.low_frequency_factor, ErrorKind::config,
          "{}: rope.high_frequency_factor = {} must be above rope.low_frequency_factor = {}", source,
          s.high_frequency_factor, s.low_frequency_factor);
  require(s.kind != "yarn" || s.base > 1, ErrorKind::config,
          "{}: rope.scaling = \"yarn\" needs rope.base above 1, got {}", source, s.base);
  require(rope.scaled_level < modes, ErrorKind::config,
          "{}: rope.scaled_level = {}, but the attention has {} levels of positions, counted from 0", source,
          rope.scaled_level, modes);
}

/// Rounds up, limited to the integer range.
int64_t whole_positions(double positions) {
  return static_cast<int64_t>(std::min(std::ceil(positions), 0x1p62));
}

/// Number of positions at a level (blocks, or cells of a mode) for a text of `tokens` tokens; for a resolved
/// config with a fold.
int64_t level_positions(const LanguageAttentionConfig& attention, int64_t level, double tokens) {
  const std::vector<int64_t>& fold = attention.fold;
  const size_t mode = fold.size() - 1 - static_cast<size_t>(level);
  double block = 1;
  for (size_t i = mode + 1; i < fold.size(); ++i) block *= static_cast<double>(fold[i]);
  const int64_t count = whole_positions(tokens / block);
  // With summary tokens, the number of outermost blocks may exceed the first mode.
  const bool grows = fold[mode] == 0 || (mode == 0 && ops::attention_type(attention.type).latents);
  return grows ? count : std::min(count, fold[mode]);
}

}  // namespace

void RopeConfig::fields(Fields& f) {
  f.add("base", scaling.base, "base of the rotary embedding's frequencies", {.min = 1, .max = 1e12});
  f.add("scaling", scaling.kind,
        "RoPE scaling for contexts longer than trained: none, linear, ntk, yarn or llama3",
        {.one_of = {"none", "linear", "ntk", "yarn", "llama3"}});
  f.add("factor", scaling.factor, "RoPE scaling factor: context length relative to the trained one",
        {.min = 1e-6, .max = 1e9});
  f.add("original_length", scaling.original_length,
        "yarn, llama3: trained context length before scaling, in tokens", {.min = 0});
  f.add("low_frequency_factor", scaling.low_frequency_factor,
        "llama3: low frequency factor, below which frequencies are divided by factor", {.min = 1e-9});
  f.add("high_frequency_factor", scaling.high_frequency_factor,
        "llama3: high frequency factor, above which frequencies are kept", {.min = 1e-9});
  f.add("beta_fast", scaling.beta_fast,
        "yarn: rotations within the original length above which frequencies are kept", {.min = 1e-9});
  f.add("beta_slow", scaling.beta_slow,
        "yarn: rotations within the original length below which frequencies are divided by factor",
        {.min = 1e-9});
  f.add("truncate", scaling.truncate, "yarn: round the bounds of the ramp to whole dimensions");
  f.add("gain", scaling.gain, "yarn: factor of cos and sin (attention factor); 0: 0.1 ln(factor) + 1",
        {.min = 0});
  f.add("scaled_level", scaled_level,
        "level of the scaled positions: 0: tokens, 1: blocks of tokens, 2: blocks of blocks, …; -1: all",
        {.min = -1});
  f.add("level_lengths", level_lengths,
        "yarn, llama3: lengths in each level's own positions; false: in tokens at every level, as in "
        "earlier versions");
}

void RopeConfig::require_effect(const RopeConfig& before, const std::string& source) const {
  const nn::RotaryScaling& s = scaling;
  const auto unused = [&](bool given, const char* name, double value) {
    require(
        s.kind != "none" || !given, ErrorKind::config,
        "{}: {} = {} has no effect with rope.scaling = \"none\": set rope.scaling to linear, ntk, yarn or "
        "llama3",
        source, name, value);
  };
  unused(s.factor != 1 && s.factor != before.scaling.factor, "rope.factor", s.factor);
  unused(scaled_level >= 0 && scaled_level != before.scaled_level, "rope.scaled_level",
         static_cast<double>(scaled_level));
  if (s.kind == before.scaling.kind && s.factor == before.scaling.factor) return;
  const bool gains = s.kind == "yarn" && s.gain > 0 && s.gain != 1;
  require(s.kind == "none" || s.factor != 1 || gains, ErrorKind::config,
          "{}: rope.scaling = \"{}\" with rope.factor = 1 has no effect: set rope.factor to the context "
          "length relative "
          "to the trained one, such as rope.factor = 4",
          source, s.kind);
}

void LanguageAttentionConfig::fields(Fields& f) {
  std::vector<std::string> forms;
  for (const ops::AttentionType& one : ops::attention_types())
    if (one.run != nullptr) forms.emplace_back(one.name);
  FoldConfig::fields(f,
                     "summary (causal tensor attention with summary tokens), full, window, lambda (window "
                     "and attention sinks), axial, or "
                     "sparse: random, topk",
                     std::move(forms), "summary");
  f.add("latent_std", latent_stddev, "summary: standard deviation of the initial latents; 0: mean pooling",
        {.min = 0});
  f.add("sinks", sinks, "lambda: attention sinks, the first tokens that every token attends to", {.min = 0});
  f.add("density", density, "random, topk: fraction of the earlier tokens that a token attends to; above 0",
        {.min = 0, .max = 1});
}

void LanguageModelConfig::fields(Fields& f) {
  f.add("vocabulary", vocabulary, "vocabulary size, that of the tokenizer", {.min = 1, .max = 16777216});
  f.add("width", width, "width D of a token", {.min = 1, .max = 65536});
  f.add("hidden", hidden, "hidden width of the feed-forward network; 0: 8/3 of the width",
        {.min = 0, .max = 1048576});
  f.add("layers", layers, "number of transformer layers", {.min = 1, .max = 1000});
  f.add("heads", heads, "attention heads", {.min = 1, .max = 4096});
  f.add("kv_heads", kv_heads,
        "key and value heads (grouped-query attention), must divide heads; 0: equal to heads",
        {.min = 0, .max = 4096});
  f.add("head_width", head_width, "width of an attention head; 0: width / heads", {.min = 0, .max = 65536});
  f.add("norm_epsilon", norm_epsilon, "epsilon of RMSNorm", {.min = 0, .max = 1});
  f.add("tied", tied, "tied input and output embeddings");
  f.add("context", context, "context length in training, in tokens", {.min = 1});
  f.add("init_std", stddev, "standard deviation of the initial weights (normal); 0: 1/√width",
        {.min = 0, .max = 10});
  f.add("dropout", dropout, "dropout probability of the attention and feed-forward outputs",
        {.min = 0, .max = 0.99});
  f.add("precision", precision, "dtype of activations; weights, statistics and sums are float32",
        {.one_of = {"float32", "bf16"}});
  f.add("recompute", recompute,
        "activation checkpointing: keep one activation per layer and recompute the others, for less memory "
        "and a third more time");
  f.group("rope", rope);
  f.group("attention", attention);
}

void LanguageModelConfig::validate(const std::string& source) const {
  LanguageModelConfig copy = *this;
  fields_of(copy).validate(source);
  require(kv_heads == 0 || heads % kv_heads == 0, ErrorKind::config,
          "{}: kv_heads = {} must divide heads = {}", source, kv_heads, heads);
  require(head_width > 0 || width % heads == 0, ErrorKind::config,
          "{}: width = {} must be a multiple of heads = {}, or set head_width", source, width, heads);
  const int64_t d = head_width > 0 ? head_width : width / heads;
  require(d % 2 == 0, ErrorKind::config, "{}: rotary embedding needs an even head width, got {}", source, d);
  check_attention(attention, source);
  check_rope(rope, std::max<int64_t>(1, static_cast<int64_t>(resolved().attention.fold.size())), source);
}

LanguageModelConfig LanguageModelConfig::resolved() const {
  LanguageModelConfig out = *this;
  if (out.hidden == 0) out.hidden = (width * 8 / 3 + 31) / 32 * 32;
  if (out.kv_heads == 0) out.kv_heads = heads;
  if (out.head_width == 0) out.head_width = width / heads;
  const ops::AttentionType& type = ops::attention_type(attention.type);
  if (type.fold && attention.fold.empty()) out.attention.fold = default_fold(context);
  if (type.latents && attention.window == 0) out.attention.window = 2 * out.attention.fold.back();
  return out;
}

ops::TensorAttentionOptions LanguageModelConfig::attention_options() const {
  ops::TensorAttentionOptions out;
  out.type = attention.type;
  out.fold = attention.fold;
  // Limit outermost blocks to the number seen in training, also for texts longer than the context: the last
  // trained token, at context − 1, attended to the blocks completed before it.
  if (ops::attention_type(out.type).latents && out.fold[0] == 0) {
    int64_t tokens = 1;
    for (size_t i = 1; i < out.fold.size(); ++i) tokens *= out.fold[i];
    out.fold[0] = std::max<int64_t>(1, (context - 1) / tokens);
  }
  out.window = attention.window;
  out.sinks = attention.sinks;
  out.density = attention.density;
  return out;
}

ops::RotaryEmbedding LanguageModelConfig::rotary_embedding() const {
  std::vector<nn::RotaryScaling> levels;
  do levels.push_back(level_scaling(std::ssize(levels)));
  while (levels.size() < attention.fold.size());
  return nn::rotary_embedding(levels, head_width);
}

nn::RotaryScaling LanguageModelConfig::level_scaling(int64_t level) const {
  nn::RotaryScaling out = rope.scaling;
  const bool chosen = rope.scaled_level == level;
  if (rope.scaled_level >= 0 && !chosen) out.kind = "none";
  const bool tokens = attention.fold.empty() || (level == 0 && ops::attention_type(attention.type).latents);
  if (tokens || !rope.level_lengths || !nn::compares_lengths(out)) return out;
  const auto length = static_cast<double>(out.original_length);
  const int64_t original = level_positions(attention, level, length);
  // A chosen level is scaled by the factor, whether or not the fold lets it grow.
  const int64_t extended = chosen ? whole_positions(static_cast<double>(original) * out.factor)
                                  : level_positions(attention, level, length * out.factor);
  return nn::level_scaling(out, original, extended);
}

int64_t LanguageModelConfig::parameters() const {
  const LanguageModelConfig c = resolved();
  const int64_t latents =
      ops::latent_levels(c.attention_options()) * c.kv_heads * c.attention.summary_tokens * c.head_width;
  const int64_t layer =
      2 * c.width + 2 * c.width * c.head_width * (c.heads + c.kv_heads) + 3 * c.width * c.hidden + latents;
  return c.vocabulary * c.width * (c.tied ? 1 : 2) + c.layers * layer + c.width;
}

}  // namespace modewise::models
