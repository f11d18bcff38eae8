#pragma once
// Loading of a task's config.

#include <string>

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
  Config plain;
  const Fields usual = fields_of(plain);
  refuse_idle(fields, usual, training_dependents(), source);
  if constexpr (requires { Config::dependents(); }) refuse_idle(fields, usual, Config::dependents(), source);
  return config;
}

}  // namespace modewise::tasks
