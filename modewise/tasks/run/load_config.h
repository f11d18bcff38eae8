#pragma once
// Loading of a task's config.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/saved_config.h"
#include "modewise/tasks/run/settings.h"

namespace modewise::tasks {

/// Whether `file` is the config.toml of a run.
inline bool is_run_config(const std::string& file) {
  const std::filesystem::path path(file);
  return path.filename() == "config.toml" && std::filesystem::exists(path.parent_path() / "manifest.json");
}

/// Applies assignments `a.b=value` in their order, those of presets before the others: a preset sets other
/// fields.
inline void set_all(Fields& fields, std::vector<std::string> assignments) {
  auto rest = assignments.begin();
  for (const Field& field : fields.list())
    if (field.after)
      rest = std::stable_partition(rest, assignments.end(), [&](const std::string& text) {
        return text.starts_with(field.path + "=");
      });
  for (const std::string& assignment : assignments) fields.set(assignment);
}

/// The config of `settings`. Without `saved`, its assignments are applied, and paths become absolute. Config
/// has fields() and validate(source).
template <class Config>
Config load_config(const Settings& settings) {
  Config config;
  Fields fields = fields_of(config);
  const std::string& file = settings.file;
  if (settings.saved || is_run_config(file))
    models::load_saved_file(fields, file);
  else if (!file.empty())
    fields.load_toml_file(file);
  const std::string source = file.empty() ? "options" : file;
  if (!settings.saved) {
    set_all(fields, settings.assignments);
    fields.make_paths_absolute();
    fields.validate(source);
  }
  config.validate(source);
  return config;
}

}  // namespace modewise::tasks
