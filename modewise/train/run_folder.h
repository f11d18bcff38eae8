#pragma once
// A run's folder, self-contained: config.toml (resolved), manifest.json, metrics.jsonl (a line an
// evaluation), metrics.json (final), log.txt, checkpoints/, and whatever the task adds (predictions.npz,
// report.html). Nothing is overwritten without being told.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::train {

/// What a run was started with. Build, machine, torch version and start time are added when it is written.
struct RunManifest {
  std::string task;  // "forecast", "classify", "segment"
  std::vector<std::string> command_line;
  int64_t seed = 0;
  int threads = 1;
  std::string data_hash;
};

class RunFolder {
 public:
  /// Makes `path` (and its parents). A folder that holds anything is a cannot_create error that names
  /// --resume and --exist-ok; with `exist_ok` the files of an earlier run in it are removed, others are left
  /// alone.
  static RunFolder create(const std::filesystem::path& path, bool exist_ok = false);
  /// Makes the first free one of parent/stem, parent/stem2, parent/stem3, …
  static RunFolder create_numbered(const std::filesystem::path& parent, const std::string& stem);
  /// An existing run; no_input when it is not one (no folder, or no config.toml in it).
  static RunFolder open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(std::string_view name) const { return path_ / name; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

  /// The resolved configuration, from Fields::to_toml().
  void write_config(std::string_view toml) const;
  std::string read_config() const;
  /// data.json: what the task keeps of the data it was trained on.
  void write_data(const nlohmann::ordered_json& data) const;
  void write_manifest(const RunManifest& manifest) const;
  nlohmann::json read_manifest() const;
  /// The task in the manifest; "forecast" where there is none.
  std::string task() const;
  /// Throws a usage error that names both when the run is of another task.
  void require_task(const std::string& wanted) const;
  /// metrics.json, atomically; the trainer writes it at the end, the task may add to it afterwards.
  void write_metrics(const nlohmann::ordered_json& metrics) const;
  /// Throws no_input when the run has not finished.
  nlohmann::ordered_json read_metrics() const;
  /// The lines of metrics.jsonl (a last line without its newline is left out); empty when there are none.
  std::vector<nlohmann::ordered_json> read_metric_lines() const;
  /// Sends the log to log.txt too (appending).
  void start_log() const;

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace modewise::train
