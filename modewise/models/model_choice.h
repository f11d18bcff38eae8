#pragma once
// What the configs of all kinds of models open with: a name and a preset, which set the other options to what
// their authors use, and the precision. Options set after them win, whatever their order in a file.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/encoder_config.h"

namespace modewise::models {

struct ModelChoice {
  std::string name = "hot";
  std::string preset = "default";     // default (ours) | release (the released HOT code) | paper
  std::string precision = "float32";  // float32 | bf16
};

/// Adds name, preset and precision to `f`. Config has use_model(name) and use_preset(preset). `set_to` and
/// `family` complete the help: "sets the other options to its authors'", "of the hot family".
template <class Config>
void choice_fields(Fields& f, Config& config, const std::vector<std::string>& names,
                   const std::string& set_to, const std::string& family) {
  f.add_preset("name", config.name, "the model; sets the other options to " + set_to, {.one_of = names},
               [&config] { config.use_model(config.name); });
  f.add_preset("preset", config.preset, "of " + family + ": default, release (the released code) or paper",
               {.one_of = {"default", "release", "paper"}}, [&config] { config.use_preset(config.preset); });
  f.add("precision", config.precision, "of activations; weights, statistics and sums are float32",
        {.one_of = {"float32", "bf16"}});
}

/// Sets every option back to the chosen model's own, and then, for "release" and "paper", those in which all
/// models of the released code or of the paper are alike. Whether it was one of these two: the caller then
/// sets what is particular to its models. Config has patch.embedding and head.dropout.
template <class Config>
bool use_published(Config& config, std::string preset) {
  const std::string kept = std::exchange(config, Config()).name;
  config.use_model(kept);
  config.preset = std::move(preset);
  if (config.preset == "default") return false;
  const bool release = config.preset == "release";
  config.use_published_blocks(release);
  config.patch.embedding = release ? "relu_norm" : "relu";
  config.head.dropout = release ? 0.1 : 0.0;
  return true;
}

/// A name for tables: "hot", "hot release sum", "transformer linear": what differs from the defaults.
std::string title_of(const ModelChoice& choice, const AttentionConfig& attention);

/// Whether model `name` has the option `path`.
using HasOption = bool (*)(std::string_view name, std::string_view path);

/// Throws a config error for the first of `fields` that model `model` does not have and whose value is not
/// that of `defaults`, naming those of `models` that have it: a mistake worth a sentence. `source` opens the
/// message.
void check_options_are_used(const Fields& fields, const Fields& defaults, const std::string& model,
                            const std::vector<std::string>& models, HasOption has_option,
                            const std::string& source);

/// Throws a config error for a value outside its rule, and for an option changed that the chosen model does
/// not have. `has_presets`: whether `preset` is an option of it.
template <class Config>
void check_options(Config config, bool has_presets, const std::vector<std::string>& models,
                   HasOption has_option, const std::string& source) {
  const Fields fields = fields_of(config);
  fields.validate(source);
  Config plain;
  plain.use_model(config.name);
  if (has_presets) plain.use_preset(config.preset);
  check_options_are_used(fields, fields_of(plain), config.name, models, has_option, source);
}

}  // namespace modewise::models
