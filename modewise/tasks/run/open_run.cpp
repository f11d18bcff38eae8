#include "modewise/tasks/run/open_run.h"

#include <spdlog/spdlog.h>

#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "modewise/core/parse_json.h"
#include "modewise/nn/layers/move_module.h"
#include "modewise/tasks/run/test_split.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/loop/compute_device.h"

namespace modewise::tasks {

using Json = nlohmann::ordered_json;

std::unique_ptr<Run> read_run_settings(const TaskSpec& task, const train::RunFolder& folder) {
  Settings settings;
  settings.file = folder.file("config.toml").string();
  settings.saved = true;
  std::unique_ptr<Run> run = task.create(settings);
  run->set_folder(folder);
  return run;
}

Json read_run_data(const train::RunFolder& folder) {
  const std::string file = folder.file("data.json").string();
  Json json = parse_json<Json>(read_file(file), file);
  require(json.is_object(), ErrorKind::data, "{}: not a JSON object", file);
  return json;
}

std::unique_ptr<Run> open_run(const TaskSpec& task, const std::filesystem::path& path) {
  const train::RunFolder folder = train::RunFolder::open(path);
  folder.require_task(task.name);
  std::unique_ptr<Run> run = read_run_settings(task, folder);
  const std::string file = folder.file("data.json").string();
  try {
    run->restore(read_run_data(folder), file);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: {}", file, error.what());
  }
  if (!has_finished(folder))
    spdlog::warn(
        "{0} has not finished: its best weights so far are used, and what the end of a training adds, such "
        "as "
        "calibrated intervals, is missing; modewise train --resume {1} finishes it",
        path.string(), command_word(path.string()));
  run->make_model(Purpose::open);
  train::load_weights(run->module(), folder);
  nn::move_module(run->module(), train::chosen_device());
  run->module().eval();
  return run;
}

}  // namespace modewise::tasks
