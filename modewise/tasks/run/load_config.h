#pragma once
// Loading of a task's config.

#include <algorithm>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/tasks/run/idle_settings.h"
#include "modewise/tasks/run/settings.h"

namespace modewise::tasks {

/// Whether `file` is the config.toml of a run.
bool is_run_config(const std::string& file);

/// Loads the file and the assignments over the values of `fields`. The presets, such as model.name, come
/// first: those of the assignments, else of the file; then the other values of the file and of the
/// assignments. Of the config.toml of a run, which has every value, those that its own presets imply give way
/// to other presets. `probe` and `defaults`: fields of two copies of the config.
void load_settings(Fields& fields, Fields& probe, Fields& defaults, const Settings& settings);

template <class Config>
void load_settings(Config& config, const Settings& settings) {
  Config probe = config, defaults = config;
  Fields fields = fields_of(config), probe_fields = fields_of(probe), default_fields = fields_of(defaults);
  load_settings(fields, probe_fields, default_fields, settings);
}

/// Gives `to` the presets of `from`, and the values that they imply.
void load_presets(Fields& to, const Fields& from, const std::string& source);

/// Settings of `config` without effect, other than its presets imply. Those of models may be common to the
/// runs of a sweep, of which some have no use for them.
template <class Config>
std::vector<IdleSetting> idle_settings_of(Config& config, const std::string& source, bool of_sweep) {
  Config plain;
  const Fields fields = fields_of(config);
  Fields usual = fields_of(plain);
  load_presets(usual, fields, source);
  std::vector<IdleSetting> all;
  const auto add = [&](std::span<const DependentSetting> rows) {
    for (IdleSetting& setting : idle_settings(fields, usual, rows)) all.push_back(std::move(setting));
  };
  add(training_dependents());
  if (!of_sweep) add(model_dependents());
  if constexpr (requires { Config::dependents(); }) add(Config::dependents());
  return all;
}

/// Config error for a setting of `config` without effect. One of the file may lose its effect by the
/// assignments, as in a sweep over the setting that it needs.
template <class Config>
void refuse_idle(Config& config, const Settings& settings, const std::string& source) {
  const bool of_sweep = settings.of_sweep || is_run_of_sweep();
  const std::vector<IdleSetting> idle = idle_settings_of(config, source, of_sweep);
  if (idle.empty()) return;
  Settings of_file;
  of_file.file = settings.file;
  Config alone;
  load_settings(alone, of_file);
  const std::vector<IdleSetting> idle_alone = idle_settings_of(alone, source, of_sweep);
  const Fields fields = fields_of(config), alone_fields = fields_of(alone);
  for (const IdleSetting& setting : idle)
    if (std::ranges::find(idle_alone, setting.path, &IdleSetting::path) != idle_alone.end() ||
        Fields::value_text(*find_field(fields, setting.path)) !=
            Fields::value_text(*find_field(alone_fields, setting.path)))
      refuse(setting, source);
}

/// The config of `settings`. Without `saved`, its assignments are applied, and paths become absolute. Config
/// has fields() and validate(source), and may have dependents(): settings that need others. Those without
/// effect are refused, except in the config of a run.
template <class Config>
Config load_config(const Settings& settings) {
  Config config;
  load_settings(config, settings);
  const std::string source = settings.file.empty() ? "options" : settings.file;
  Fields fields = fields_of(config);
  if (!settings.saved) {
    fields.make_paths_absolute();
    fields.validate(source);
  }
  config.validate(source);
  if (settings.saved || is_run_config(settings.file)) return config;
  refuse_idle(config, settings, source);
  return config;
}

}  // namespace modewise::tasks
