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

/// The config of `settings`. Without `saved`, model.name and model.preset are applied first, because they set
/// other fields, and paths become absolute. Config has fields() and validate(source).
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
    std::vector<std::string> assignments = settings.assignments;
    const auto first = [&](const std::string& prefix, auto begin) {
      return std::stable_partition(begin, assignments.end(),
                                   [&](const std::string& text) { return text.starts_with(prefix); });
    };
    first("model.preset=", first("model.name=", assignments.begin()));
    for (const std::string& assignment : assignments) fields.set(assignment);
    fields.make_paths_absolute();
    fields.validate(source);
  }
  config.validate(source);
  return config;
}

}  // namespace modewise::tasks
