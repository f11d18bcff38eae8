#include "modewise/tasks/registry.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "modewise/core/aliases.h"
#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/tasks/captioning/spec.h"
#include "modewise/tasks/forecasting/spec.h"
#include "modewise/tasks/image_classification/spec.h"
#include "modewise/tasks/language_modeling/spec.h"
#include "modewise/tasks/run/load_config.h"
#include "modewise/tasks/segmentation/spec.h"
#include "modewise/tasks/series_classification/spec.h"
#include "modewise/tasks/text/spec.h"
#include "modewise/tasks/volume_classification/spec.h"
#include "modewise/train/checkpoint/run_folder.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

const TaskSpec* find_task(const std::string& given) {
  const std::string name = current_task(given);
  const auto found = std::find_if(task_specs().begin(), task_specs().end(), [&](const TaskSpec* kind) {
    return kind->command == given || kind->name == name;
  });
  return found == task_specs().end() ? nullptr : *found;
}

const TaskSpec* owner_of(const fs::path& data) {
  const auto found = std::find_if(task_specs().begin(), task_specs().end(),
                                  [&](const TaskSpec* kind) { return kind->owns && kind->owns(data); });
  return found == task_specs().end() ? nullptr : *found;
}

/// Runs and pretrained models have texts and tables that are not data.
void refuse_models(const fs::path& folder) {
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  require(!is_run_config((folder / "config.toml").string()), ErrorKind::no_input,
          "expected data, got a run folder: {}", folder.string());
  const bool weights =
      has("model.safetensors") || has("model.safetensors.index.json") || has("pytorch_model.bin");
  require(
      !(has("config.json") && weights), ErrorKind::no_input,
      "expected data, got the folder of a pretrained model: {} (training continues it with 'train language "
      "--data TEXT --init FOLDER' or 'train text --data TEXTS --from FOLDER')",
      folder.string());
}

bool has_setting(const TaskSpec& kind, const std::string& key) {
  const auto run = kind.create({});
  const RunSettings settings = run->settings();
  const std::vector<Field>& fields = settings.fields.list();
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) { return field.path == key; });
}

/// The setting of an option such as "--masks", of any task; `name` if it is not an option.
std::string setting_of(const std::string& name) {
  for (const TaskSpec* kind : task_specs())
    for (const ShortOption& option : kind->options)
      if (option.flag == name) return option.key;
  return name;
}

/// The task that the data look like; forecasting if none claims them.
const TaskSpec& guessed_task(const fs::path& path) {
  if (const TaskSpec* kind = owner_of(path)) return *kind;
  const TaskSpec* kind = nullptr;
  if (fs::is_directory(path))
    visit_data_entries(path, [&](const fs::path& entry) { return (kind = owner_of(entry)) != nullptr; });
  return kind != nullptr ? *kind : *task_specs().front();
}

}  // namespace

const std::vector<const TaskSpec*>& task_specs() {
  static const std::vector<const TaskSpec*> all = {
      &forecasting_spec,           &volume_classification_spec, &segmentation_spec, &text_spec,
      &series_classification_spec, &image_classification_spec,  &captioning_spec,   &language_modeling_spec};
  return all;
}

std::vector<std::string> task_commands() {
  std::vector<std::string> commands;
  for (const TaskSpec* kind : task_specs()) commands.push_back(kind->command);
  return commands;
}

const TaskSpec& task_named(const std::string& name) {
  const TaskSpec* kind = find_task(name);
  require(kind != nullptr, ErrorKind::usage, "there is no task '{}' (there are {})", name,
          fmt::join(task_commands(), ", "));
  return *kind;
}

const TaskSpec& task_of_run(const std::string& path) {
  for (const TaskSpec* kind : task_specs())
    if (kind->opens && kind->opens(path)) return *kind;
  const fs::path folder = fs::path(path).parent_path();
  require(!fs::is_regular_file(path) || !fs::exists(folder / "manifest.json"), ErrorKind::no_input,
          "expected a run folder, got a file of one: {} is the run", folder.string());
  const std::string name = train::RunFolder::open(path).task();
  const TaskSpec* kind = find_task(name);
  require(kind != nullptr, ErrorKind::data, "{}/manifest.json: there is no task '{}' (there are {})", path,
          name, fmt::join(task_commands(), ", "));
  return *kind;
}

const TaskSpec& task_of_runs(const std::vector<std::string>& paths) {
  const TaskSpec& first = task_of_run(paths.front());
  for (const std::string& path : paths) {
    const TaskSpec& other = task_of_run(path);
    require(&other == &first, ErrorKind::usage,
            "only runs of one task can be compared, but {} is of '{}' and {} of '{}'", paths.front(),
            first.name, path, other.name);
  }
  return first;
}

void require_shares(const TaskSpec& kind, const char* verb) {
  require(train::workers().size() == 1 || kind.in_shares, ErrorKind::usage,
          "only a single process can {} runs of the task '{}': start it without torchrun", verb, kind.name);
}

const TaskSpec& task_of_data(const fs::path& path, const std::vector<std::string>& given) {
  refuse_models(path);
  const TaskSpec* guess = &guessed_task(path);
  for (const std::string& name : given) {
    const std::string key = setting_of(name);
    if (!key.starts_with("data.") || has_setting(*guess, key)) continue;
    std::vector<const TaskSpec*> owners = task_specs();
    std::erase_if(owners, [&](const TaskSpec* kind) { return !has_setting(*kind, key); });
    if (owners.size() == 1) return *owners.front();
  }
  return *guess;
}

}  // namespace modewise::tasks
