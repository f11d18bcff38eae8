#include "modewise/tasks/run/load_config.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "modewise/core/aliases.h"
#include "modewise/core/file.h"
#include "modewise/core/toml_paths.h"
#include "modewise/models/saved_config.h"
#include "modewise/tasks/run/idle_settings.h"

namespace modewise::tasks {
namespace {

/// The preset of a key, under its current or an earlier name; nullptr for other keys.
const Field* find_preset(const Fields& fields, const std::string& key) {
  const Field* field = find_field(
      fields, current_key(key, [&](const std::string& name) { return find_field(fields, name) != nullptr; }));
  return field != nullptr && field->after ? field : nullptr;
}

bool is_preset(const Field& field) {
  return static_cast<bool>(field.after);
}

/// The values of `saved` that its presets do not imply.
std::string chosen_values(const Fields& saved, Fields& defaults, const std::string& source) {
  load_presets(defaults, saved, source);
  return saved
      .only([&](const Field& field) {
        return is_preset(field) ||
               Fields::value_text(field) != Fields::value_text(*find_field(defaults, field.path));
      })
      .to_toml();
}

}  // namespace

void load_presets(Fields& to, const Fields& from, const std::string& source) {
  to.load_toml(from.only(is_preset).to_toml(), source);
}

bool is_run_config(const std::string& file) {
  const std::filesystem::path path(file);
  return path.filename() == "config.toml" && std::filesystem::exists(path.parent_path() / "manifest.json");
}

void load_settings(Fields& fields, Fields& probe, Fields& defaults, const Settings& settings) {
  const std::string& file = settings.file;
  const bool of_run = settings.saved || is_run_config(file);
  std::string text = file.empty() ? "" : read_file(file);
  const auto load = [&](Fields& to) {
    of_run ? models::load_saved_toml(to, text, file) : to.load_toml(text, file);
  };
  if (settings.saved) return load(fields);
  std::vector<std::string> presets, others;
  for (const std::string& assignment : settings.assignments)
    (find_preset(fields, assignment.substr(0, assignment.find('='))) ? presets : others)
        .push_back(assignment);
  if (presets.empty()) {
    load(fields);
  } else {
    load(probe);  // its errors name a line of the file, or the assignment
    const std::string saved = of_run ? chosen_values(probe, defaults, file) : text;
    bool changed = false;
    std::map<std::string, std::string> names;
    for (const std::string& assignment : presets) {
      const Field& preset = *find_preset(probe, assignment.substr(0, assignment.find('=')));
      const std::string before = Fields::value_text(preset);
      probe.set(assignment);
      names[preset.path] = *std::get<std::string*>(preset.value);
      changed = changed || before != Fields::value_text(preset);
    }
    if (changed || !of_run) {
      const auto replaced = [&](const std::string& path) {
        const Field* preset = find_preset(fields, path);
        return preset != nullptr && names.contains(preset->path);
      };
      fields.load_toml(toml_with(saved, file, replaced, names), file);
    } else {
      load(fields);
    }
  }
  for (const std::string& assignment : others) fields.set(assignment);
}

}  // namespace modewise::tasks
