#pragma once
// Opening of a run folder with its model.

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

/// A run's model with its best weights. Tasks extend it with other data of a run.
template <class Settings, class Model>
struct OpenRun {
  using Config = Settings;

  train::RunFolder folder;
  Config config;
  std::shared_ptr<Model> model = nullptr;
};

/// Returns read(document of data.json, file name). Data errors name the file, also for missing values.
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

/// Opens a run of `task`: read_config(folder) returns its config, make(run) its model, built from data.json,
/// whose best weights are then loaded. Errors: no_input if it is not a run or has no checkpoint; usage if it
/// is of another task; data if its files are damaged.
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
