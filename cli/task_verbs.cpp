#include "cli/task_verbs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/tasks/language/source.h"
#include "modewise/train/run_folder.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;

const std::vector<const TaskVerbs*>& table() {
  static const std::vector<const TaskVerbs*> all = {&forecast_verbs, &classify_verbs, &segment_verbs,
                                                    &language_verbs, &series_verbs};
  return all;
}

/// Whether an NPZ has MedMNIST's arrays, or images with labels.
bool holds_volumes(const std::string& file) {
  if (!fs::is_regular_file(file)) return false;
  const std::vector<std::string> names = io::npz_names(file);
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return has("train_images") || (has("images") && has("labels"));
}

}  // namespace

const std::vector<std::string>& task_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const TaskVerbs* verbs : table()) out.push_back(verbs->task);
    return out;
  }();
  return names;
}

const TaskVerbs& verbs_of(const std::string& name) {
  const auto found = std::find_if(table().begin(), table().end(),
                                  [&](const TaskVerbs* verbs) { return verbs->task == name; });
  require(found != table().end(), ErrorKind::usage, "there is no task '{}' (there are {})", name,
          fmt::join(task_names(), ", "));
  return **found;
}

const TaskVerbs& verbs_of_run(const std::string& path) {
  if (path.ends_with(".csv") && fs::is_regular_file(path)) return verbs_of("classify");  // a file of scores
  if (tasks::is_language_model(path)) return verbs_of("language");
  const std::string task = train::RunFolder::open(path).task();
  require(std::find(task_names().begin(), task_names().end(), task) != task_names().end(), ErrorKind::data,
          "{}/manifest.json: there is no task '{}' (there are {})", path, task,
          fmt::join(task_names(), ", "));
  return verbs_of(task);
}

const TaskVerbs& verbs_of_runs(const std::vector<std::string>& paths) {
  const TaskVerbs& first = verbs_of_run(paths.front());
  for (const std::string& path : paths) {
    const TaskVerbs& other = verbs_of_run(path);
    require(other.task == first.task, ErrorKind::usage,
            "runs of one task can be set side by side, but {} is of '{}' and {} of '{}'", paths.front(),
            first.task, path, other.task);
  }
  return first;
}

std::string task_of_data(const std::string& file) {
  const auto ends = [&](std::initializer_list<const char*> endings) {
    return std::any_of(endings.begin(), endings.end(),
                       [&](const char* ending) { return file.ends_with(ending); });
  };
  if (ends({".nii", ".nii.gz"}) || (ends({".npz"}) && holds_volumes(file))) return "classify";
  if (ends({".jsonl"}) || file == "recall") return "language";
  if (ends({".ts"}) || file == "motifs") return "series";
  if (ends({".tif", ".tiff", ".TIF", ".TIFF"})) return "segment";
  if (fs::is_directory(file))
    for (const auto& entry : fs::recursive_directory_iterator(file)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".tif") || name.ends_with(".tiff")) return "segment";
      if (name.ends_with(".nii") || name.ends_with(".nii.gz")) return "classify";
      if (name.ends_with(".ts")) return "series";
    }
  return "forecast";
}

void print_result(const Program& program, const nlohmann::ordered_json& json, const std::string& text) {
  if (program.json())
    program.print(json);
  else
    program.print(text);
}

void print_config(const Program& program, const Fields& fields, bool help_text) {
  if (!program.json()) {
    program.print(fields.to_toml(help_text));
    return;
  }
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Field& field : fields.list()) {
    const auto value = std::visit([](const auto* v) { return nlohmann::ordered_json(*v); }, field.value);
    if (help_text)
      json[field.path] = {{"value", value}, {"help", field.help}};
    else
      json[field.path] = value;
  }
  program.print(json);
}

void require_new(const fs::path& file, bool force) {
  require(file.empty() || force || !fs::exists(file) || is_stream(file), ErrorKind::cannot_create,
          "{} exists already: --force overwrites it", file.string());
}

bool wants_npz(const PredictOptions& options) {
  const std::string ending = fs::path(options.out).extension().string();
  require(options.out.empty() || ending == ".npz" || ending == ".csv", ErrorKind::usage,
          "--out must end in .csv or .npz, got '{}'", options.out);
  return ending == ".npz";
}

void refuse_steps(const PredictOptions& options, const std::string& what) {
  require(options.steps == 0, ErrorKind::usage, "--steps is for forecasts; {} is {}", options.run, what);
}

}  // namespace modewise::cli
