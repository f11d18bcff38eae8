#include "modewise/train/run_folder.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <array>
#include <ctime>
#include <system_error>

#include "modewise/core/build_info.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/log.h"
#include "modewise/core/parse_json.h"
#include "modewise/train/folder_lock.h"

namespace modewise::train {
namespace fs = std::filesystem;
namespace {

// Everything a run writes; --exist-ok removes these and nothing else.
constexpr std::array kRunFiles = {"config.toml",  "manifest.json",   "data.json",   "metrics.jsonl",
                                  "metrics.json", "log.txt",         "checkpoints", "calibration.npz",
                                  "report.html",  "predictions.npz", "tokenizer",   "model"};

void create_check(const std::error_code& error, const fs::path& path) {
  require(!error, ErrorKind::cannot_create, "cannot create {}: {}", path.string(), error.message());
}

std::string local_time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &parts)};
}

}  // namespace

RunFolder RunFolder::create(const fs::path& path, bool exist_ok) {
  std::error_code error;
  fs::create_directories(path, error);
  create_check(error, path);
  const bool filled = !fs::is_empty(path, error);
  create_check(error, path);
  require(
      !filled || exist_ok, ErrorKind::cannot_create,
      "{} holds files already: continue that run with --resume {}, start anew in it with --exist-ok, or name "
      "another folder",
      path.string(), path.string());
  if (!filled) return RunFolder(path);
  const FolderLock lock(path);
  for (const char* name : kRunFiles) {
    fs::remove_all(path / name, error);
    create_check(error, path / name);
  }
  return RunFolder(path);
}

RunFolder RunFolder::create_numbered(const fs::path& parent, const std::string& stem) {
  std::error_code error;
  fs::create_directories(parent, error);
  create_check(error, parent);
  for (int number = 1;; ++number) {
    const fs::path path = parent / (number == 1 ? stem : fmt::format("{}{}", stem, number));
    const bool made = fs::create_directory(path, error);  // atomic: two runs never share a number
    if (made) return RunFolder(path);
    if (!fs::exists(path)) create_check(error, path);
  }
}

RunFolder RunFolder::open(const fs::path& path) {
  require(fs::is_directory(path), ErrorKind::no_input, "there is no run folder {}", path.string());
  require(fs::exists(path / "config.toml"), ErrorKind::no_input,
          "{} is not a run folder: it has no config.toml", path.string());
  return RunFolder(path);
}

void RunFolder::write_config(std::string_view toml) const {
  write_file_atomically(file("config.toml"), toml);
}

void RunFolder::write_data(const nlohmann::ordered_json& data) const {
  write_file_atomically(file("data.json"), data.dump(1) + "\n");
}

std::string RunFolder::read_config() const {
  return read_file(file("config.toml"));
}

void RunFolder::write_manifest(const RunManifest& manifest) const {
  const nlohmann::ordered_json json = {{"task", manifest.task},
                                       {"started", local_time_text()},
                                       {"command_line", manifest.command_line},
                                       {"seed", manifest.seed},
                                       {"threads", manifest.threads},
                                       {"data_hash", manifest.data_hash},
                                       {"build", to_json(build_info())},
                                       {"torch", TORCH_VERSION},
                                       {"machine", to_json(machine_info())}};
  // A command line may hold any bytes; those that are not UTF-8 are replaced.
  const auto lenient = nlohmann::ordered_json::error_handler_t::replace;
  write_file_atomically(file("manifest.json"), json.dump(1, ' ', false, lenient) + "\n");
}

nlohmann::json RunFolder::read_manifest() const {
  const std::string name = file("manifest.json").string();
  auto json = parse_json<nlohmann::json>(read_file(name), name);
  require(json.is_object(), ErrorKind::data, "{} is not a JSON object", name);
  return json;
}

std::string RunFolder::task() const {
  if (!fs::exists(file("manifest.json"))) return "forecast";
  return read_manifest().value("task", "forecast");
}

void RunFolder::require_task(const std::string& wanted) const {
  require(task() == wanted, ErrorKind::usage, "{} is a run of the task '{}', not of '{}'", path_.string(),
          task(), wanted);
}

void RunFolder::write_metrics(const nlohmann::ordered_json& metrics) const {
  write_file_atomically(file("metrics.json"), metrics.dump(1) + "\n");
}

nlohmann::ordered_json RunFolder::read_metrics() const {
  const std::string name = file("metrics.json").string();
  auto json = parse_json(read_file(name), name);
  require(json.is_object(), ErrorKind::data, "{} is not a JSON object", name);
  return json;
}

std::vector<nlohmann::ordered_json> RunFolder::read_metric_lines() const {
  std::vector<nlohmann::ordered_json> lines;
  if (!fs::exists(file("metrics.jsonl"))) return lines;
  const std::string text = read_file(file("metrics.jsonl"));
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string place = fmt::format("{}:{}", file("metrics.jsonl").string(), lines.size() + 1);
    lines.push_back(parse_json(std::string_view(text).substr(begin, end - begin), place));
    require(lines.back().is_object(), ErrorKind::data, "{} is not a JSON object", place);
  }
  return lines;
}

void RunFolder::start_log() const {
  log_to_file(file("log.txt").string());
}

}  // namespace modewise::train
