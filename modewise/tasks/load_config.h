#pragma once
// A task's config: from a file and assignments, in the order in which they act, or from the folder of a run.

#include <algorithm>
#include <string>
#include <vector>

#include "modewise/core/fields.h"
#include "modewise/train/run_folder.h"

namespace modewise::tasks {

/// Defaults < `file` ("" for none) < `assignments` ("a.b=c"). Among the assignments the model's name and
/// preset act first, since they set other fields; paths become absolute. Config has fields() and
/// validate(source).
template <class Config>
Config load_config(const std::string& file, std::vector<std::string> assignments) {
  Config config;
  Fields fields = fields_of(config);
  if (!file.empty()) fields.load_toml_file(file);
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

/// The config of a run. Data and config errors name its file.
template <class Config>
Config read_run_config(const train::RunFolder& folder) {
  const std::string file = folder.file("config.toml").string();
  Config config;
  fields_of(config).load_toml_file(file);
  config.validate(file);
  return config;
}

}  // namespace modewise::tasks
