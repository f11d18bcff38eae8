#pragma once
// From the folder of a run back to its model.

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/parse_json.h"
#include "modewise/train/checkpoint/run_folder.h"
#include "modewise/train/checkpoint/run_weights.h"

namespace modewise::tasks {

/// A run's model with its best weights. What else a task keeps of its runs stands in a struct that extends
/// this.
template <class Settings, class Model>
struct OpenRun {
  using Config = Settings;

  train::RunFolder folder;
  Config config;
  std::shared_ptr<Model> model = nullptr;
};

/// read(document of data.json, the file's name). Data errors name the file, also where it lacks what `read`
/// looks for.
template <class Json = nlohmann::ordered_json, class Read>
auto read_run_data(const train::RunFolder& folder, const Read& read) {
  const std::string file = folder.file("data.json").string();
  const auto json = parse_json<Json>(read_file(file), file);
  require(json.is_object(), ErrorKind::data, "{}: not a JSON object", file);
  try {
    return read(json, file);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: {}", file, error.what());
  }
}

/// Opens a run of `task` (the word behind `train`): its config is what read_config(folder) gives; make(run)
/// takes what it needs of data.json and returns the model, whose best weights are then loaded. Errors:
/// no_input when it is no run or has no checkpoint; usage when it is of another task; data when its files
/// are damaged.
template <class Run, class ReadConfig, class Make>
Run open_run(const std::filesystem::path& path, const std::string& task, const ReadConfig& read_config,
             const Make& make) {
  train::RunFolder folder = train::RunFolder::open(path);
  folder.require_task(task);
  auto config = read_config(folder);
  Run run{{std::move(folder), std::move(config)}};
  run.model = make(run);
  train::load_weights(*run.model, run.folder);
  run.model->eval();
  return run;
}

}  // namespace modewise::tasks
