#pragma once
// A model's tensors in one safetensors file or in several with an index, as Hugging Face lays them out in a
// folder: model.safetensors, or model.safetensors.index.json and the shards that it names.

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

/// Throws data errors that name `source`: text that is no JSON object with a weight_map of strings, a name
/// that stands twice, a file name that leaves the folder.
ShardMap parse_shard_index(std::string_view json, const std::string& source);

class SafetensorsFolder {
 public:
  /// Opens `folder`/model.safetensors, or by its index the shards. no_input when there is neither or a shard
  /// is absent; data errors when a tensor of the index is not in its shard, or a shard holds one that the
  /// index gives to another or to none.
  explicit SafetensorsFolder(const std::filesystem::path& folder);

  /// By name. The views' bytes live as long as this object.
  std::optional<TensorView> find(std::string_view name) const;
  /// In the order of files, then of their bytes.
  std::vector<TensorView> tensors() const;
  size_t size() const;
  /// Whether `folder` holds a model of either layout.
  static bool is_one(const std::filesystem::path& folder);

 private:
  void open_shards(const std::filesystem::path& folder);

  std::deque<SafetensorsFile> files_;
};

/// Writes the tensors as model.safetensors, or, when they take more than `shard_bytes`, as
/// model-00001-of-0000N.safetensors … and their index, in the order given. A tensor is never cut. Metadata
/// goes into every file. Each file is written atomically, the index last.
void write_safetensors_folder(const std::filesystem::path& folder, std::span<const TensorSource> tensors,
                              const std::map<std::string, std::string>& metadata, uint64_t shard_bytes);

}  // namespace modewise::io
