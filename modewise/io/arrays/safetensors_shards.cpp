#include "modewise/io/arrays/safetensors_shards.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";

/// SAX reader of an index: keeps the weight_map only.
class ShardIndexReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ShardIndexReader(const std::string& source) : source_(source) {}

  ShardMap map;
  bool found = false;

  bool start_object(size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(false); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      in_map_ = name == "weight_map";
      require(!in_map_ || !found, ErrorKind::data, "{}: duplicate key weight_map", source_);
    } else if (depth_ == 2 && in_map_) {
      name_ = name;
      require(!map.contains(name), ErrorKind::data, "{}: duplicate tensor {} in weight_map", source_,
              quote_for_message(name));
    }
    return true;
  }
  bool string(string_t& value) override {
    if (depth_ != 2 || !in_map_) return plain();
    require(!value.empty() && value.find('/') == std::string::npos && value != "." && value != ".." &&
                value.find('\0') == std::string::npos,
            ErrorKind::data,
            "{}: weight_map maps the tensor {} to {}, which is not a file name in the same folder", source_,
            quote_for_message(name_), quote_for_message(value));
    map.emplace(name_, value);
    return true;
  }
  bool null() override { return plain(); }
  bool boolean(bool) override { return plain(); }
  bool number_integer(number_integer_t) override { return plain(); }
  bool number_unsigned(number_unsigned_t) override { return plain(); }
  bool number_float(number_float_t, const string_t&) override { return plain(); }
  bool binary(binary_t&) override { return plain(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fail(ErrorKind::data, "{}: not JSON at byte {}", source_, position);
  }

 private:
  bool open(bool object) {
    require(depth_ > 0 || object, ErrorKind::data, "{}: the index must be a JSON object", source_);
    require(depth_ != 1 || !in_map_ || object, ErrorKind::data, "{}: weight_map must be an object", source_);
    if (depth_ >= 2 && in_map_) wrong_value();
    if (depth_ == 1 && in_map_) found = true;
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }
  /// A value that is neither object, array nor, in the map, a string.
  bool plain() {
    require(depth_ > 0, ErrorKind::data, "{}: the index must be a JSON object", source_);
    require(depth_ != 1 || !in_map_, ErrorKind::data, "{}: weight_map must be an object", source_);
    if (depth_ == 2 && in_map_) wrong_value();
    return true;
  }
  [[noreturn]] void wrong_value() {
    fail(ErrorKind::data, "{}: weight_map must map the tensor {} to a file name", source_,
         quote_for_message(name_));
  }

  const std::string& source_;
  std::string name_;
  int depth_ = 0;
  bool in_map_ = false;
};

std::string shard_name(size_t index, size_t count) {
  return fmt::format("model-{:05}-of-{:05}.safetensors", index + 1, count);
}

/// Index of the first tensor of each shard.
std::vector<size_t> shard_starts(std::span<const TensorSource> tensors, uint64_t shard_bytes) {
  std::vector<size_t> starts = {0};
  uint64_t used = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const uint64_t size = tensors[i].size();
    if (i > 0 && used + size > shard_bytes) {
      starts.push_back(i);
      used = 0;
    }
    used += size;
  }
  return starts;
}

SafetensorsWriter writer_of(std::span<const TensorSource> tensors,
                            const std::map<std::string, std::string>& metadata) {
  return SafetensorsWriter({tensors.begin(), tensors.end()}, metadata);
}

}  // namespace

ShardMap parse_shard_index(std::string_view json, const std::string& source) {
  ShardIndexReader reader(source);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  require(reader.found, ErrorKind::data, "{}: the index has no weight_map", source);
  require(!reader.map.empty(), ErrorKind::data, "{}: the weight_map is empty", source);
  return std::move(reader.map);
}

/// The remedy for weights in another format, the empty text if there are none.
static std::string other_weights(const fs::path& folder) {
  std::string found;
  if (!fs::is_directory(folder)) return "";
  for (const fs::path& path : entries_of(folder)) {
    const std::string ending = path.extension().string(), name = path.filename().string();
    const bool torch = (ending == ".bin" && name != "tokenizer.bin" && name != "training_args.bin") ||
                       ending == ".pt" || ending == ".pth";
    if ((torch || ending == ".gguf" || ending == ".h5" || ending == ".msgpack" || ending == ".ckpt") &&
        (found.empty() || name < found))
      found = name;
  }
  if (found.empty()) return "";
  return fmt::format(
      "; {} is not read: weights must be safetensors. Convert them in Python: "
      "transformers.AutoModelForCausalLM (or the model's own class).from_pretrained({})"
      ".save_pretrained(\"NEW_FOLDER\")",
      found, nlohmann::json(folder.string()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

bool SafetensorsFolder::is_one(const fs::path& folder) {
  return fs::exists(folder / kSingleFile) || fs::exists(folder / kIndexFile);
}

SafetensorsFolder::SafetensorsFolder(const fs::path& folder) {
  if (fs::exists(folder / kSingleFile)) {
    files_.emplace_back(folder / kSingleFile);
    return;
  }
  require(fs::exists(folder / kIndexFile), ErrorKind::no_input, "{} holds neither {} nor {}{}",
          folder.string(), kSingleFile, kIndexFile, other_weights(folder));
  open_shards(folder);
}

void SafetensorsFolder::open_shards(const fs::path& folder) {
  const fs::path index = folder / kIndexFile;
  const MappedFile mapped(index);
  const auto bytes = mapped.bytes();
  const ShardMap map =
      parse_shard_index({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, index.string());
  std::set<std::string> names;
  for (const auto& [tensor, file] : map) names.insert(file);
  for (const std::string& name : names)
    require(holds_file(folder, name), ErrorKind::no_input, "{} names the shard {}, which is not in {}",
            index.string(), name, folder.string());
  std::set<std::string, std::less<>> seen;
  for (const std::string& name : names) {
    files_.emplace_back(folder / name);
    for (const TensorView& tensor : files_.back().tensors()) {
      const auto entry = map.find(tensor.name);
      require(entry != map.end(), ErrorKind::data, "{} holds the tensor {}, which is not in {}",
              (folder / name).string(), quote_for_message(tensor.name), index.string());
      require(entry->second == name, ErrorKind::data, "{} holds the tensor {}, but {} maps it to {}",
              (folder / name).string(), quote_for_message(tensor.name), index.string(), entry->second);
      seen.insert(tensor.name);
    }
  }
  for (const auto& [tensor, file] : map)
    require(seen.contains(tensor), ErrorKind::data, "{} maps the tensor {} to {}, which does not hold it",
            index.string(), quote_for_message(tensor), file);
}

std::optional<TensorView> SafetensorsFolder::find(std::string_view name) const {
  for (const SafetensorsFile& file : files_)
    if (auto tensor = file.find(name)) return tensor;
  return std::nullopt;
}

std::vector<TensorView> SafetensorsFolder::tensors() const {
  std::vector<TensorView> out;
  for (const SafetensorsFile& file : files_)
    for (TensorView& tensor : file.tensors()) out.push_back(std::move(tensor));
  return out;
}

size_t SafetensorsFolder::size() const {
  size_t count = 0;
  for (const SafetensorsFile& file : files_) count += file.size();
  return count;
}

void write_safetensors_folder(const fs::path& folder, std::span<const TensorSource> tensors,
                              const std::map<std::string, std::string>& metadata, uint64_t shard_bytes) {
  const std::vector<size_t> starts = shard_starts(tensors, shard_bytes);
  if (starts.size() == 1) {
    write_safetensors(folder / kSingleFile, writer_of(tensors, metadata));
    return;
  }
  nlohmann::ordered_json map = nlohmann::ordered_json::object();
  uint64_t total = 0;
  for (size_t shard = 0; shard < starts.size(); ++shard) {
    const size_t end = shard + 1 < starts.size() ? starts[shard + 1] : tensors.size();
    const auto part = tensors.subspan(starts[shard], end - starts[shard]);
    const std::string name = shard_name(shard, starts.size());
    write_safetensors(folder / name, writer_of(part, metadata));
    for (const TensorSource& tensor : part) {
      map[tensor.name] = name;
      total += tensor.size();
    }
  }
  const nlohmann::ordered_json index = {{"metadata", {{"total_size", total}}},
                                        {"weight_map", std::move(map)}};
  write_file_atomically(folder / kIndexFile, index.dump(2) + "\n");
}

}  // namespace modewise::io
