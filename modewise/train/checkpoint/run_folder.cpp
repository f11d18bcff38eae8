#include "modewise/train/checkpoint/run_folder.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <system_error>

#include "modewise/core/aliases.h"
#include "modewise/core/build_info.h"
#include "modewise/core/claims.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/hash.h"
#include "modewise/core/log.h"
#include "modewise/core/parse_json.h"
#include "modewise/core/remove_tree.h"
#include "modewise/ops/kernel_info.h"
#include "modewise/train/checkpoint/folder_lock.h"

namespace modewise::train {
namespace fs = std::filesystem;
namespace {

// All files that a run may write; its manifest lists them as its own. A trailing * matches any ending.
constexpr std::array kRunFiles = {"config.toml",
                                  "manifest.json",
                                  "data.json",
                                  "metrics.jsonl",
                                  "metrics.json",
                                  "log.txt",
                                  "checkpoints",
                                  "calibration.npz",
                                  "report.html",
                                  "predictions.npz",
                                  "test_series.npz",
                                  "trained_series.npz",
                                  "tokenizer",
                                  "model",
                                  "captions.json",
                                  "timing.json",
                                  "training_samples.npy",
                                  "events.out.tfevents.*"};
// Folder of a search (sweep/search.h), not part of the run: only leftovers of an interrupted start are
// removed.
constexpr std::string_view kSearchFolder = "auto";

constexpr const char* kIdentity = "run_id";

void create_check(const std::error_code& error, const fs::path& path) {
  require(!error, ErrorKind::cannot_create, "cannot create {}: {}", path.string(), error.message());
}

/// Whether `name` may be a data folder written for a run: "data", "data2", ….
bool is_inputs_name(std::string_view name) {
  constexpr std::string_view kStem = "data", kDigits = "0123456789";
  return name.starts_with(kStem) && name.find_first_not_of(kDigits, kStem.size()) == std::string_view::npos;
}

/// Whether the absolute `path` is `parent` or inside it.
bool lies_in(const fs::path& path, const fs::path& parent) {
  const fs::path above = fs::absolute(parent).lexically_normal();
  return std::mismatch(above.begin(), above.end(), path.begin(), path.end()).first == above.end();
}

bool contains(const auto& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

nlohmann::ordered_json read_object(const fs::path& file) {
  const std::string name = file.string();
  auto json = parse_json(read_file(name), name);
  require(json.is_object(), ErrorKind::data, "{} is not a JSON object", name);
  return json;
}

std::string local_time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &parts)};
}

nlohmann::ordered_json manifest_json(const RunManifest& manifest) {
  std::vector<std::string> files(kRunFiles.begin(), kRunFiles.end());
  if (!manifest.inputs.empty()) files.push_back(manifest.inputs);
  return {{"task", manifest.task},
          {"started", local_time_text()},
          {"command_line", manifest.command_line},
          {"seed", manifest.seed},
          {"threads", manifest.threads},
          {"data_hash", manifest.data_hash},
          {"files", files},
          {"test_read", manifest.test_read},
          {"build", to_json(build_info())},
          {"torch", TORCH_VERSION},
          {"machine", to_json(machine_info())},
          {"instruction_set", ops::active_isa()},
          {"device", manifest.device}};
}

void write_manifest(const fs::path& path, const nlohmann::ordered_json& json) {
  // A command line may contain any bytes; invalid UTF-8 is replaced.
  const auto lenient = nlohmann::ordered_json::error_handler_t::replace;
  write_file_atomically(path, json.dump(1, ' ', false, lenient) + "\n");
}

}  // namespace

RunFolder RunFolder::create(const fs::path& path, bool exist_ok, const std::string& inputs,
                            const std::vector<std::string>& read) {
  require(inputs.empty() || is_inputs_name(inputs), ErrorKind::usage,
          "inputs must name a folder in the run, data, data2, …, got '{}'", inputs);
  make_folders(path);
  RunFolder run(path);
  run.lock();  // of two concurrent starts in one folder, the second fails here before any read or write
  run.remove_leftovers();
  const std::vector<fs::path> held = entries_of(path);
  const auto is_known = [&](const fs::path& entry) {
    return entry.filename() == inputs || entry.filename() == FileLock::kFolderFile;
  };
  if (std::all_of(held.begin(), held.end(), is_known)) return run;
  require(exist_ok, ErrorKind::cannot_create,
          "{} is not empty: resume that run with --resume {}, replace it with --overwrite, or choose "
          "another folder",
          path.string(), command_word(path.string()));
  run.remove_earlier_run(inputs, read);
  return run;
}

void RunFolder::remove_earlier_run(const std::string& kept, const std::vector<std::string>& read) const {
  const std::vector<std::string> listed = listed_names();
  std::vector<std::string> names(kRunFiles.begin(), kRunFiles.end());
  for (const std::string& name : listed)
    if (is_inputs_name(name) && name != kept) names.push_back(name);
  std::error_code error;
  for (const std::string& name : names) {
    const std::vector<fs::path> held = files_named(name);
    require(contains(listed, name) || held.empty(), ErrorKind::cannot_create,
            "{} contains {}, which no run manifest lists: move it away, or choose another folder",
            path_.string(), held.empty() ? "" : held.front().filename().string());
    for (const fs::path& one : held)
      for (const std::string& needed : read)
        require(!lies_in(needed, one), ErrorKind::usage,
                "{} belongs to the run in {}, which the new run would replace: copy it elsewhere, or choose "
                "another folder",
                needed, path_.string());
  }
  // Remove config.toml first: the folder is not a run any more. Keep the manifest until the next run replaces
  // it, so that an interrupted start can be restarted.
  for (const std::string& name : names) {
    if (name == "manifest.json") continue;
    for (const fs::path& held : files_named(name)) {
      remove_tree(held, error);
      create_check(error, held);
    }
    if (name == names.front()) sync_directory(path_);
  }
}

std::vector<fs::path> RunFolder::files_named(std::string_view name) const {
  std::vector<fs::path> held;
  if (!name.ends_with('*')) {
    if (fs::exists(fs::symlink_status(file(name)))) held.push_back(file(name));
    return held;
  }
  name.remove_suffix(1);
  for (const fs::path& entry : entries_of(path_))
    if (entry.filename().string().starts_with(name)) held.push_back(entry);
  return held;
}

std::vector<std::string> RunFolder::listed_names() const {
  if (!fs::exists(file("manifest.json"))) return {};
  try {
    const nlohmann::json manifest = read_manifest();
    manifest.at("task").get<std::string>();  // fails for another program's manifest
    return manifest.at("files").get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception&) {
    return {};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    return {};
  }
}

RunFolder RunFolder::create_numbered(const fs::path& parent, const std::string& stem) {
  make_folders(parent);
  for (int number = 1;; ++number) {
    const fs::path path = parent / (number == 1 ? stem : fmt::format("{}{}", stem, number));
    std::error_code error;
    if (fs::create_directory(path, error)) {  // atomic: two runs never share a number
      sync_directory(parent);
      RunFolder run(path);
      run.lock();
      return run;
    }
    if (!fs::exists(path)) create_check(error, path);
  }
}

RunFolder RunFolder::open(const fs::path& path) {
  require(!fs::is_regular_file(path), ErrorKind::no_input,
          "expected a run folder, got the file {0}; 'modewise train {1}' makes a run, and 'modewise predict "
          "RUN' predicts with it",
          path.string(), command_word(path.string()));
  require(fs::is_directory(path), ErrorKind::no_input, "no such run folder: {}", path.string());
  RunFolder run(path);
  if (!fs::exists(run.file("config.toml"))) {
    require(run.listed_names().empty(), ErrorKind::no_input,
            "{} is not a run folder yet: its start was interrupted before config.toml was written; start it "
            "again "
            "with --overwrite",
            path.string());
    fail(ErrorKind::no_input, "{} is not a run folder: it has no config.toml", path.string());
  }
  return run;
}

void RunFolder::lock() {
  if (lock_ != nullptr) return;
  require_own_claim();
  lock_ = std::make_shared<const FolderLock>(path_);
}

void RunFolder::begin(const RunManifest& manifest, std::string_view config_toml,
                      const nlohmann::ordered_json& data) const {
  nlohmann::ordered_json json = manifest_json(manifest);
  const std::string content = fmt::format("{}\n{}\n{}", manifest.task, config_toml, data.dump());
  json[kIdentity] = content_hash(as_bytes(content));
  train::write_manifest(file("manifest.json"), json);
  write_data(data);
  write_config(config_toml);
}

void RunFolder::remove_leftovers() const {
  remove_temporaries(
      path_, [](std::string_view name) { return name == kSearchFolder || contains(kRunFiles, name); });
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
  train::write_manifest(file("manifest.json"), manifest_json(manifest));
}

nlohmann::json RunFolder::read_manifest() const {
  const std::string name = file("manifest.json").string();
  auto json = parse_json<nlohmann::json>(read_file(name), name);
  require(json.is_object(), ErrorKind::data, "{} is not a JSON object", name);
  return json;
}

std::string RunFolder::manifest_text(const char* key, const std::string& usual) const {
  if (!fs::exists(file("manifest.json"))) return usual;
  const nlohmann::json manifest = read_manifest();
  const auto found = manifest.find(key);
  if (found == manifest.end()) return usual;
  require(found->is_string(), ErrorKind::data, "{}: '{}' must be a string, got a value of type {}",
          file("manifest.json").string(), key, found->type_name());
  return found->get<std::string>();
}

std::string RunFolder::task() const {
  return current_task(manifest_text("task", "forecast"));
}

std::string RunFolder::identity() const {
  return manifest_text(kIdentity, "");
}

void RunFolder::require_task(const std::string& wanted) const {
  require(task() == wanted, ErrorKind::usage, "{} is a run of the task '{}', not of '{}'", path_.string(),
          task(), wanted);
}

void RunFolder::write_metrics(const nlohmann::ordered_json& metrics) const {
  write_file_atomically(file("metrics.json"), metrics.dump(1) + "\n");
}

void RunFolder::write_timing(const nlohmann::ordered_json& timing) const {
  write_file_atomically(file("timing.json"), timing.dump(1) + "\n");
}

nlohmann::ordered_json RunFolder::read_metrics() const {
  return read_object(file("metrics.json"));
}

nlohmann::ordered_json RunFolder::read_timing() const {
  return read_object(file("timing.json"));
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
