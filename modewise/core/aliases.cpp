#include "modewise/core/aliases.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <span>

namespace modewise {
namespace {

struct Alias {
  std::string_view old_name, name;
};

constexpr Alias kTasks[] = {
    {"forecast", "forecasting"},          {"classify", "volume_classification"},
    {"pictures", "image_classification"}, {"series", "series_classification"},
    {"segment", "segmentation"},          {"language", "language_modeling"},
    {"captions", "captioning"},
};

// Subcommands of `modewise train`.
constexpr Alias kTrainCommands[] = {
    {"classify", "classify-volumes"},
    {"pictures", "classify-images"},
    {"series", "classify-series"},
    {"captions", "caption"},
};

constexpr Alias kOptions[] = {
    {"--exist-ok", "--overwrite"},
    {"--force", "--overwrite"},
    {"--override", "--allow-config-changes"},
    {"--lease", "--claim-timeout"},
    {"--places", "--max-positions"},
    {"--singles", "--num-examples"},
    {"--slots", "--summary-tokens"},
    {"--past-marks", "--ignore-eos"},
    {"--beams", "--beam-size"},
    {"--pictures", "--images"},
    {"--test-pictures", "--test-images"},
};

constexpr Alias kGroups[] = {
    {"pictures.", "classify."},
    {"series.", "classify."},
    {"captions.", "caption."},
    {"vary.", "augment."},
    {"model.known.", "model.future_covariates."},
    {"model.forest.", "model.shapelet-forest."},
    {"model.linear.", "model.dlinear."},
    {"model.rocket.", "model.minirocket."},
};

// Keys within their current group. A task that has a key under its old name keeps it.
constexpr Alias kKeys[] = {
    {"augment.flips", "augment.flip_axes"},
    {"augment.quarter_turns", "augment.rotate90_axes"},
    {"caption.beams", "caption.beam_size"},
    {"caption.drawn", "caption.samples"},
    {"caption.judged_training", "caption.train_eval_samples"},
    {"caption.smoothing", "caption.label_smoothing"},
    {"classify.mirrors", "classify.flip_axes"},
    {"data.augment.flips", "data.augment.flip"},
    {"data.augment.turns", "data.augment.rotate90"},
    {"data.calendar_code", "data.calendar_encoding"},
    {"data.knock_out", "data.missing_fraction"},
    {"data.knock_out_seed", "data.missing_seed"},
    {"data.field", "data.text_field"},
    {"data.known", "data.future_covariates"},
    {"data.motifs.cases", "data.motifs.samples"},
    {"data.pictures", "data.images"},
    {"data.test_pictures", "data.test_images"},
    {"masking.exchanged", "masking.random_token_probability"},
    {"masking.hidden", "masking.mask_token_probability"},
    {"masking.share", "masking.mask_rate"},
    {"model.attention.form", "model.attention.type"},
    {"model.attention.latent_deviation", "model.attention.latent_std"},
    {"model.attention.slots", "model.attention.summary_tokens"},
    {"model.baseline.form", "model.ets.form"},
    {"model.baseline.individual", "model.individual"},
    {"model.baseline.kernel", "model.dlinear.kernel"},
    {"model.baseline.period", "model.period"},
    {"model.baseline.ridge", "model.ridge.penalty"},
    {"model.baseline.start", "model.weight_init"},
    {"model.blocks", "model.layers"},
    {"model.convolution.kernel", "model.tcn.kernel"},
    {"model.convolution.levels", "model.tcn.levels"},
    {"model.deviation", "model.init_std"},
    {"model.first_positions", "model.position_init"},
    {"model.position.code", "model.position.encoding"},
    {"model.position.identity", "model.position.mode_embeddings"},
    {"model.positions", "model.max_positions"},
    {"model.types", "model.token_types"},
    {"output.pictures", "output.figures"},
    // Options of evaluate.
    {"beams", "beam_size"},
    {"force", "overwrite"},
    {"pictures", "images"},
    // The object "attention" in exported models.
    {"form", "type"},
    {"slots", "summary_tokens"},
};

constexpr Alias kAttentions[] = {
    {"causal", "summary"},
    {"tensor", "stt"},
};

struct ValueAlias {
  std::string_view key, old_value, value;
};
constexpr ValueAlias kValues[] = {
    {"--dtype", "bfloat16", "bf16"},
    {"data.normalize", "case", "sample"},
    {"model.attention.type", "causal", "summary"},
    {"model.attention.type", "tensor", "stt"},
    {"model.cnn.attention", "tensor", "stt"},
    {"model.encoder.attention", "tensor", "stt"},
    {"model.decoder.attention", "tensor", "stt"},
    {"model.decoder.cross_attention", "tensor", "stt"},
    {"model.window.scale", "deviation", "std"},
    {"type", "causal", "summary"},
    {"text.objective", "classify", "classification"},
    {"text.objective", "regress", "regression"},
    {"text.objective", "masked", "masked_lm"},
};

constexpr Alias kMembers[] = {
    {"deviation", "std"},
};

const Alias* find(std::span<const Alias> aliases, const std::string& name) {
  const auto found =
      std::find_if(aliases.begin(), aliases.end(), [&](const Alias& one) { return one.old_name == name; });
  return found == aliases.end() ? nullptr : &*found;
}

/// The name that replaced `name`, or `name`.
std::string current(std::span<const Alias> aliases, const std::string& name) {
  const Alias* alias = find(aliases, name);
  if (alias == nullptr) return name;
  warn_of_alias(alias->old_name, alias->name);
  return std::string(alias->name);
}

/// The keys that a key of an earlier version may be now: its group is renamed, then the key in it.
std::vector<std::string> current_keys(const std::string& key) {
  std::vector<std::string> candidates = {key}, names;
  for (const Alias& group : kGroups)
    if (key.starts_with(group.old_name))
      candidates.push_back(std::string(group.name) + key.substr(group.old_name.size()));
  for (const std::string& candidate : candidates) {
    names.push_back(candidate);
    for (const Alias& one : kKeys)
      if (one.old_name == candidate) names.emplace_back(one.name);
  }
  return names;
}

template <class Json>
const Json& member(const Json& object, const std::string& key) {
  if (object.is_object() && !object.contains(key))
    for (const Alias& one : kMembers)
      if (one.name == key && object.contains(one.old_name)) return object.at(std::string(one.old_name));
  return object.at(key);
}

}  // namespace

void warn_of_alias(std::string_view old_name, std::string_view name) {
  static std::atomic<bool> warned = false;
  if (!warned.exchange(true))
    spdlog::warn("'{}' is called '{}' now; docs/renames.md lists all names that have changed", old_name,
                 name);
}

std::string current_task(const std::string& name) {
  const Alias* alias = find(kTasks, name);
  return alias == nullptr ? name : std::string(alias->name);
}

std::string current_key(const std::string& key, const std::function<bool(const std::string&)>& exists) {
  if (exists(key)) return key;
  // Models that are not part of a task's config have its keys without "model.".
  for (const std::string& root : {std::string(), std::string("model.")})
    for (std::string name : current_keys(root + key)) {
      if (!name.starts_with(root)) continue;
      name.erase(0, root.size());
      if (!exists(name)) continue;
      warn_of_alias(key, name);
      return name;
    }
  return "";
}

bool is_renamed_group(const std::string& group) {
  const std::string prefix = group + ".";
  const auto within = [&](const Alias& one) {
    return one.old_name.starts_with(prefix) || one.old_name.starts_with("model." + prefix);
  };
  return std::any_of(std::begin(kGroups), std::end(kGroups), within) ||
         std::any_of(std::begin(kKeys), std::end(kKeys), within);
}

std::string current_value(const std::string& key, const std::string& value,
                          const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return value;
  for (const ValueAlias& one : kValues)
    if ((one.key == key || one.key == "model." + key) && one.old_value == value) {
      warn_of_alias(one.old_value, one.value);
      return std::string(one.value);
    }
  return value;
}

std::string current_attention(const std::string& name) {
  const Alias* alias = find(kAttentions, name);
  return alias == nullptr ? name : std::string(alias->name);
}

std::vector<std::string> current_command_line(std::vector<std::string> arguments) {
  if (arguments.size() > 2 && arguments[1] == "train") arguments[2] = current(kTrainCommands, arguments[2]);
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string& argument = arguments[i];
    if (!argument.starts_with("--")) continue;
    const size_t end = std::min(argument.find('='), argument.size());
    const std::string option = current(kOptions, argument.substr(0, end));
    if (end < argument.size()) {
      argument = option + "=" + current_value(option, argument.substr(end + 1), {});
    } else {
      argument = option;
      if (i + 1 < arguments.size()) arguments[i + 1] = current_value(option, arguments[i + 1], {});
    }
  }
  return arguments;
}

const nlohmann::json& aliased_member(const nlohmann::json& object, const std::string& key) {
  return member(object, key);
}

const nlohmann::ordered_json& aliased_member(const nlohmann::ordered_json& object, const std::string& key) {
  return member(object, key);
}

}  // namespace modewise
