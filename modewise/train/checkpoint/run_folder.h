#pragma once
// A run's folder, self-contained: config.toml (resolved), manifest.json, metrics.jsonl (a line an
// evaluation), metrics.json (final), timing.json, log.txt, checkpoints/, the event files of TensorBoard where
// they are asked for, and whatever the task adds (predictions.npz, report.html). Nothing is overwritten
// without being told.
//
// A folder is a run from the moment it has config.toml, which is written last of what a start writes. The
// manifest comes first and lists the names that belong to the run: nothing else is ever removed.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::train {

class FolderLock;

/// What a run was started with. Build, machine, torch version and start time are added when it is written.
struct RunManifest {
  std::string task;  // "forecast", "classify", "segment"
  std::vector<std::string> command_line;
  int64_t seed = 0;
  int threads = 1;
  std::string data_hash;
  bool test_read = true;    // false: the training left the test part unread
  std::string inputs = {};  // the folder in the run that holds data written for it; "" for none
};

class RunFolder {
 public:
  /// Makes `path` (and its parents), locked. A folder that holds anything is a cannot_create error that names
  /// --resume and --exist-ok; with `exist_ok` what the manifest of an earlier run lists is removed and other
  /// things are left alone, unless one has a name that the new run needs (cannot_create). `inputs`: a folder
  /// in `path` ("data", "data2", …) that the caller has filled for the new run; it may be there and is kept.
  /// `read`: absolute paths that the new run reads; a usage error for one that would be removed.
  static RunFolder create(const std::filesystem::path& path, bool exist_ok = false,
                          const std::string& inputs = "", const std::vector<std::string>& read = {});
  /// Makes the first free one of parent/stem, parent/stem2, parent/stem3, …, locked.
  static RunFolder create_numbered(const std::filesystem::path& parent, const std::string& stem);
  /// An existing run; no_input when it is not one (no folder, or no config.toml in it).
  static RunFolder open(const std::filesystem::path& path);

  /// Keeps other processes from training in it as long as this object or a copy lives; cannot_create when one
  /// does. Nothing happens where it is locked already.
  void lock();
  /// Makes the folder a run: manifest, data.json, and config.toml last. The manifest gets the run's identity,
  /// a hash of task, config and data.json: runs with the same identity train to the same bits.
  void begin(const RunManifest& manifest, std::string_view config_toml,
             const nlohmann::ordered_json& data) const;
  /// Removes what a write that was cut off left of the run's files, or of a search that never began.
  void remove_leftovers() const;

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
  /// The run's identity in the manifest, which its checkpoints carry too; "" where there is none (older
  /// runs).
  std::string identity() const;
  /// The task in the manifest; "forecast" where there is none.
  std::string task() const;
  /// Throws a usage error that names both when the run is of another task.
  void require_task(const std::string& wanted) const;
  /// metrics.json, atomically; the trainer writes it at the end, the task may add to it afterwards.
  void write_metrics(const nlohmann::ordered_json& metrics) const;
  /// timing.json: what the training took, which differs from run to run.
  void write_timing(const nlohmann::ordered_json& timing) const;
  /// Throws no_input when the run has not finished.
  nlohmann::ordered_json read_metrics() const;
  /// The lines of metrics.jsonl (a last line without its newline is left out); empty when there are none.
  std::vector<nlohmann::ordered_json> read_metric_lines() const;
  /// Sends the log to log.txt too (appending).
  void start_log() const;

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
  void remove_earlier_run(const std::string& kept, const std::vector<std::string>& read) const;
  /// What the folder holds of a name that a manifest may list.
  std::vector<std::filesystem::path> files_named(std::string_view name) const;
  /// The names that the manifest lists; none where there is no manifest of a run.
  std::vector<std::string> listed_names() const;
  /// A text of the manifest, `usual` where it or the manifest is missing. Data error for a value of another
  /// type.
  std::string manifest_text(const char* key, const std::string& usual) const;

  std::filesystem::path path_;
  std::shared_ptr<const FolderLock> lock_;
};

}  // namespace modewise::train
