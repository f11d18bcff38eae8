#pragma once
// Sharded safetensors checkpoints in Hugging Face's folder layout: model.safetensors, or
// model.safetensors.index.json and the shards that it names.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/arrays/safetensors.h"

namespace modewise::io {

/// The weight_map of an index: tensor name -> file name. File names are plain names without folders.
using ShardMap = std::map<std::string, std::string, std::less<>>;

/// Throws data errors that name `source`: not a JSON object with a weight_map of strings, a duplicate name, a
/// file name outside the folder.
ShardMap parse_shard_index(std::string_view json, const std::string& source);

class SafetensorsFolder {
 public:
  /// Opens `folder`/model.safetensors, or the shards of its index. no_input if neither exists or a shard is
  /// missing; data errors if a shard lacks a tensor of the index, or holds one that the index maps elsewhere
  /// or does not list.
  explicit SafetensorsFolder(const std::filesystem::path& folder);

  /// Finds a tensor by name. The views' bytes live as long as this object.
  std::optional<TensorView> find(std::string_view name) const;
  /// In the order of files, then of their data.
  std::vector<TensorView> tensors() const;
  size_t size() const;
  /// Whether `folder` holds a checkpoint of either layout.
  static bool is_one(const std::filesystem::path& folder);

 private:
  void open_shards(const std::filesystem::path& folder);

  std::deque<SafetensorsFile> files_;
};

/// Writes the tensors as model.safetensors, or, if they take more than `shard_bytes`, as
/// model-00001-of-0000N.safetensors … and their index, in the given order. A tensor is never split. Every
/// file has the metadata. Each file is written atomically, the index last.
void write_safetensors_folder(const std::filesystem::path& folder, std::span<const TensorSource> tensors,
                              const std::map<std::string, std::string>& metadata, uint64_t shard_bytes);

}  // namespace modewise::io
