#pragma once
// Run folder, self-contained: config.toml (resolved), manifest.json, metrics.jsonl (one line per evaluation),
// metrics.json (final), timing.json, log.txt, checkpoints/, TensorBoard event files if enabled, and files of
// the task (predictions.npz, report.html). Nothing is overwritten without --overwrite.
//
// A folder becomes a run once it has config.toml, the last file that a start writes. The manifest is written
// first and lists the files of the run: nothing else is ever removed.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::train {

class FolderLock;

/// Provenance of a run. Writing adds build, machine, torch version and start time.
struct RunManifest {
  std::string task;  // "forecast", "segment", …
  std::vector<std::string> command_line;
  int64_t seed = 0;
  int threads = 1;
  std::string data_hash;
  bool test_read = true;       // false: training did not evaluate the test split
  std::string inputs = {};     // folder inside the run with data written for it; "": none
  std::string device = "cpu";  // that trains
};

class RunFolder {
 public:
  /// Creates and locks `path` (and its parents). A non-empty folder is a cannot_create error that names
  /// --resume and --overwrite; with `exist_ok`, files in the manifest of an earlier run are removed and
  /// others kept, unless one has a name that the new run needs (cannot_create). `inputs`: a folder in `path`
  /// ("data", "data2", …) that the caller has filled for the new run; it is kept. `read`: absolute paths that
  /// the new run reads; a usage error for one that would be removed.
  static RunFolder create(const std::filesystem::path& path, bool exist_ok = false,
                          const std::string& inputs = "", const std::vector<std::string>& read = {});
  /// Creates and locks the first free one of parent/stem, parent/stem2, parent/stem3, ….
  static RunFolder create_numbered(const std::filesystem::path& parent, const std::string& stem);
  /// Opens an existing run; no_input if it is not one (no folder, or no config.toml in it).
  static RunFolder open(const std::filesystem::path& path);

  /// Locks the folder for training as long as this object or a copy lives; cannot_create when another process
  /// holds the lock. No effect if already locked.
  void lock();
  /// Starts the run: writes manifest, data.json, and config.toml last. The manifest gets the run id, a hash
  /// of task, config and data.json: runs with the same id train to the same bits.
  void begin(const RunManifest& manifest, std::string_view config_toml,
             const nlohmann::ordered_json& data) const;
  /// Removes temporary files of interrupted writes, and of a search that never started.
  void remove_leftovers() const;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(std::string_view name) const { return path_ / name; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

  /// The resolved configuration, from Fields::to_toml().
  void write_config(std::string_view toml) const;
  std::string read_config() const;
  /// data.json: description of the training data, from the task.
  void write_data(const nlohmann::ordered_json& data) const;
  void write_manifest(const RunManifest& manifest) const;
  nlohmann::json read_manifest() const;
  /// The run id in the manifest, also stored in its checkpoints; "" for older runs without one.
  std::string identity() const;
  /// The task in the manifest; "forecast" if missing.
  std::string task() const;
  /// Throws a usage error that names both tasks if the run is of another one.
  void require_task(const std::string& wanted) const;
  /// metrics.json, written atomically by the trainer at the end; the task may add to it afterwards.
  void write_metrics(const nlohmann::ordered_json& metrics) const;
  /// timing.json: times and memory of the training; not reproducible.
  void write_timing(const nlohmann::ordered_json& timing) const;
  /// Throw no_input when the run has not finished.
  nlohmann::ordered_json read_metrics() const;
  nlohmann::ordered_json read_timing() const;
  /// The lines of metrics.jsonl (an incomplete last line is ignored); empty without the file.
  std::vector<nlohmann::ordered_json> read_metric_lines() const;
  /// Appends the log to log.txt as well.
  void start_log() const;

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
  void remove_earlier_run(const std::string& kept, const std::vector<std::string>& read) const;
  /// The existing files of a name that a manifest may list.
  std::vector<std::filesystem::path> files_named(std::string_view name) const;
  /// The names that the manifest lists; empty without a manifest.
  std::vector<std::string> listed_names() const;
  /// A string in the manifest, `usual` if it or the manifest is missing. Data error for a value of another
  /// type.
  std::string manifest_text(const char* key, const std::string& usual) const;

  std::filesystem::path path_;
  std::shared_ptr<const FolderLock> lock_;
};

}  // namespace modewise::train
