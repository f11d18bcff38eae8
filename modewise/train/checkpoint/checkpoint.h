#pragma once
// Checkpoints that survive a kill, a full disk or a flipped byte at any moment.
//
// checkpoints/step_N/ holds the tensors, state.json and manifest.json (size and hash of each file). It is
// written under a temporary name, each file synced, then the folder, then renamed and the parent synced, then
// the file `latest` is replaced, and only then are older checkpoints removed. A step saved a second time (its
// evaluation was still to come the first time) becomes step_N.1. Damaged checkpoints are noticed by the
// manifest.

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

/// A file of a checkpoint to be written: its bytes go to the disk as they come.
struct CheckpointFile {
  std::string name;
  ByteSource content;
};
CheckpointFile text_file(std::string name, std::string text);
/// A safetensors file: the tensors must not change until it is written.
CheckpointFile weight_file(std::string name, std::span<const NamedTensor> tensors);

/// A checkpoint whose files are whole.
struct Checkpoint {
  int64_t step = 0;
  std::filesystem::path folder;
  nlohmann::ordered_json state;    // an object
  std::vector<std::string> files;  // those that the manifest lists, whose content was compared with it

  bool has(std::string_view name) const { return std::ranges::find(files, name) != files.end(); }
};

class CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Writes one, then removes all but the newest `keep`. Every failure is an io error, and leaves the earlier
  /// checkpoints as they were.
  void save(int64_t step, const nlohmann::ordered_json& state, const std::vector<CheckpointFile>& files,
            int64_t keep) const;

  /// What a caller finds wrong with a whole checkpoint's state, "" for nothing.
  using Check = std::function<std::string(const nlohmann::ordered_json& state)>;
  /// The newest that is whole and passes `check`; a warning names each newer one and its damage. None when
  /// there never was one. A data error when there are some and all are damaged.
  std::optional<Checkpoint> newest(const Check& check = {}) const;

  /// Renames those newer than `whole` (which newest() passed over) to step_N.damaged, so that they neither
  /// count as kept nor stand in the way.
  void set_aside_newer_than(const Checkpoint& whole) const;
  /// Removes what an interrupted save left.
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

/// What is wrong with the checkpoint in `folder`, "" when every file is as its manifest says.
std::string checkpoint_damage(const std::filesystem::path& folder);

}  // namespace modewise::train
