#pragma once
// Loading of a task's config, from a file and assignments or from a run folder.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/models/saved_config.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

/// Whether `file` is the config.toml of a run.
inline bool is_run_config(const std::string& file) {
  const std::filesystem::path path(file);
  return path.filename() == "config.toml" && std::filesystem::exists(path.parent_path() / "manifest.json");
}

/// Defaults < `file` ("" for none) < `assignments` ("a.b=c"). model.name and model.preset are applied first,
/// because they set other fields; paths become absolute. Config has fields() and validate(source).
template <class Config>
Config load_config(const std::string& file, std::vector<std::string> assignments) {
  Config config;
  Fields fields = fields_of(config);
  if (is_run_config(file))
    models::load_saved_file(fields, file);
  else if (!file.empty())
    fields.load_toml_file(file);
  const auto first = [&](const std::string& prefix, auto begin) {
    return std::stable_partition(begin, assignments.end(),
                                 [&](const std::string& text) { return text.starts_with(prefix); });
  };
  first("model.preset=", first("model.name=", assignments.begin()));
  for (const std::string& assignment : assignments) fields.set(assignment);
  const std::string source = file.empty() ? "options" : file;
  fields.make_paths_absolute();
  fields.validate(source);
  config.validate(source);
  return config;
}

/// The config of a run. Data and config errors name the file.
template <class Config>
Config read_run_config(const train::RunFolder& folder) {
  const std::string file = folder.file("config.toml").string();
  Config config;
  Fields fields = fields_of(config);
  models::load_saved_file(fields, file);
  config.validate(file);
  return config;
}

}  // namespace modewise::tasks
