#pragma once
// Crash-safe checkpoints: a kill, a full disk or a flipped byte at any moment leaves an intact one.
//
// checkpoints/step_N/ holds the tensors, state.json and manifest.json (size and hash of each file). Order of
// a save: write under a temporary name, sync each file, then the folder, rename it, sync the parent, replace
// the file `latest`, and only then remove older checkpoints. A step saved a second time (first before, then
// after its evaluation) becomes step_N.1. The manifest detects damaged checkpoints.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/byte_sink.h"
#include "modewise/train/loop/task.h"

namespace modewise::train {

/// A file of a checkpoint to write; its content is streamed to disk.
struct CheckpointFile {
  std::string name;
  ByteSource content;
};
CheckpointFile text_file(std::string name, std::string text);
/// A safetensors file; the tensors must not change until it is written.
CheckpointFile weight_file(std::string name, std::span<const NamedTensor> tensors);

/// A verified checkpoint: all files match the manifest.
struct Checkpoint {
  int64_t step = 0;
  std::filesystem::path folder;
  nlohmann::ordered_json state;    // an object
  std::vector<std::string> files;  // files listed in the manifest, hashes verified

  bool has(std::string_view name) const { return std::ranges::find(files, name) != files.end(); }
};

class CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Writes a checkpoint, then removes all but the newest `keep`. Every failure is an io error and leaves
  /// earlier checkpoints intact.
  void save(int64_t step, const nlohmann::ordered_json& state, const std::vector<CheckpointFile>& files,
            int64_t keep) const;

  /// Validates the state of an intact checkpoint: the reason to reject it, or "".
  using Check = std::function<std::string(const nlohmann::ordered_json& state)>;
  /// The newest intact checkpoint that passes `check`; logs each newer damaged one with its damage. Nothing
  /// when there are no checkpoints; a data error when all are damaged, that of the read when a newer one
  /// cannot be read.
  std::optional<Checkpoint> newest(const Check& check = {}) const;

  /// Makes `whole` the newest one before a resume: renames newer ones (which newest() skipped) to
  /// step_N.damaged, so that they neither count towards `keep` nor block their step names, and lets `latest`
  /// name `whole`, which an interrupted save may not have done.
  void resume_from(const Checkpoint& whole) const;
  /// Removes temporary folders of interrupted saves.
  void remove_leftovers() const;
  bool empty() const { return list().empty(); }

 private:
  struct Name {
    int64_t step = 0, revision = 0;
    std::filesystem::path path;
  };
  std::vector<Name> list() const;  // newest first
  void prune(int64_t keep) const;

  std::filesystem::path folder_;
};

/// The damage of the checkpoint in `folder`; "" if every file matches its manifest.
std::string checkpoint_damage(const std::filesystem::path& folder);

}  // namespace modewise::train
