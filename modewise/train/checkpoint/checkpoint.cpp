#include "modewise/train/checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/hash.h"
#include "modewise/core/output_file.h"
#include "modewise/core/parse_json.h"
#include "modewise/core/remove_tree.h"
#include "modewise/io/mapped_file.h"
#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::train {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kManifest = "manifest.json";
constexpr const char* kState = "state.json";
constexpr std::string_view kLatest = "latest", kStep = "step_";

/// Parses the leading digits of `text` and removes them.
std::optional<int64_t> take_number(std::string_view& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

std::string manifest_text(Json manifest) {
  manifest["hash"] = content_hash(as_bytes(manifest.dump()));
  return manifest.dump(1) + "\n";
}

void io_check(const std::error_code& error, std::string_view what, const fs::path& path) {
  require(!error, ErrorKind::io, "cannot {} {}: {}", what, path.string(), error.message());
}

/// Writes the file into the new folder; returns its manifest entry.
Json write_content(const fs::path& folder, const CheckpointFile& file) {
  OutputFile output(folder / file.name, Appears::at_once);
  ContentHash hash;
  uint64_t size = 0;
  file.content([&](std::span<const std::byte> bytes) {
    output.write(bytes);
    hash.add(bytes);
    size += bytes.size();
  });
  output.finish();
  return {{"size", size}, {"hash", hash.text()}};
}

/// Writes all files of a checkpoint into the new folder `temporary`, the manifest last.
void write_folder(const fs::path& temporary, int64_t step, const std::vector<CheckpointFile>& files) {
  std::error_code error;
  fs::create_directory(temporary, error);
  io_check(error, "create folder", temporary);
  Json entries = Json::object();
  for (const CheckpointFile& file : files) entries[file.name] = write_content(temporary, file);
  write_file_synced(temporary / kManifest,
                    as_bytes(manifest_text({{"format", 1}, {"step", step}, {"files", entries}})));
  sync_directory(temporary);
}

/// Why a checkpoint is not used.
struct Damage {
  std::string text;                  // empty: it is intact
  ErrorKind kind = ErrorKind::data;  // another kind: a file could not be read
};

/// That `path` is missing or not a file, or "": also if the file system does not say.
std::string missing_file(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::status(path, ignored).type();
  if (type == fs::file_type::not_found) return fmt::format("{} is missing", path.string());
  const bool file = type == fs::file_type::regular || type == fs::file_type::none;
  return file ? "" : fmt::format("{} is not a file", path.string());
}

/// Compares one file with its manifest entry; returns the damage, or "". Errors of MappedFile and io.
std::string file_damage(const fs::path& path, const Json& entry) {
  if (std::string damage = missing_file(path); !damage.empty()) return damage;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  io_check(error, "look at", path);
  const auto wanted = entry.at("size").get<uintmax_t>();
  if (size != wanted) return fmt::format("{} has {} bytes, expected {}", path.string(), size, wanted);
  const io::MappedFile file(path);
  if (content_hash(file.bytes()) != entry.at("hash").get<std::string>())
    return fmt::format("the content of {} does not match its hash", path.string());
  return "";
}

/// Compares the files in `folder` with its manifest and lists them in `files`.
Damage manifest_damage(const fs::path& folder, std::vector<std::string>& files) {
  const fs::path path = folder / kManifest;
  if (std::string damage = missing_file(path); !damage.empty()) return {damage};
  try {
    const std::string text = read_file(path);
    Json manifest = parse_json(text, path.string());
    Json hashed = manifest;
    hashed.erase("hash");
    if (manifest_text(hashed) != text) return {fmt::format("{} does not match its own hash", path.string())};
    const int64_t format = manifest.at("format").get<int64_t>();
    if (format != 1)
      return {fmt::format("{} has format {}, this program reads format 1", path.string(), format)};
    for (const auto& [name, entry] : manifest.at("files").items()) {
      if (std::string damage = file_damage(folder / name, entry); !damage.empty()) return {damage};
      files.push_back(name);
    }
    return {};
  } catch (const nlohmann::json::exception&) {
    return {fmt::format("{} is not a manifest", path.string())};
  } catch (const Error& error) {
    return {error.what(), error.kind()};
  }
}

/// Reads the state of an intact checkpoint.
Damage read_state(Checkpoint& checkpoint, const CheckpointStore::Check& check) {
  const fs::path path = checkpoint.folder / kState;
  if (!checkpoint.has(kState))
    return {fmt::format("{} lists no {}", (checkpoint.folder / kManifest).string(), kState)};
  try {
    checkpoint.state = parse_json(read_file(path), path.string());
    if (!checkpoint.state.is_object()) return {fmt::format("{} is not a JSON object", path.string())};
    return {check ? check(checkpoint.state) : ""};
  } catch (const nlohmann::json::exception& error) {
    return {fmt::format("{}: {}", path.string(), error.what())};
  } catch (const Error& error) {
    return {error.what(), error.kind()};
  }
}

}  // namespace

CheckpointFile text_file(std::string name, std::string text) {
  return {std::move(name), [text = std::move(text)](const ByteSink& sink) { sink(as_bytes(text)); }};
}

CheckpointFile weight_file(std::string name, std::span<const NamedTensor> tensors) {
  return {std::move(name), [writer = writer_of(tensors)](const ByteSink& sink) { writer.write(sink); }};
}

std::string checkpoint_damage(const fs::path& folder) {
  std::vector<std::string> files;
  return manifest_damage(folder, files).text;
}

std::vector<CheckpointStore::Name> CheckpointStore::list() const {
  std::vector<Name> names;
  // A folder that cannot be read is an error: "no checkpoints" would restart the training.
  for (const fs::path& path : entries_of(folder_)) {
    const std::string text = path.filename().string();
    std::string_view rest = text;
    if (!rest.starts_with(kStep)) continue;
    rest.remove_prefix(kStep.size());
    const auto step = take_number(rest);
    std::optional<int64_t> revision = 0;
    if (rest.starts_with(".")) {
      rest.remove_prefix(1);
      revision = take_number(rest);
    }
    if (step && revision && rest.empty()) names.push_back({*step, *revision, path});
  }
  std::sort(names.begin(), names.end(), [](const Name& a, const Name& b) {
    return std::pair(a.step, a.revision) > std::pair(b.step, b.revision);
  });
  return names;
}

void CheckpointStore::save(int64_t step, const Json& state, const std::vector<CheckpointFile>& files,
                           int64_t keep) const {
  int64_t revision = 0;
  for (const Name& name : list())
    if (name.step == step) revision = std::max(revision, name.revision + 1);
  const std::string name =
      fmt::format("{}{}{}", kStep, step, revision > 0 ? fmt::format(".{}", revision) : "");
  const fs::path temporary = temporary_beside(folder_ / name);
  std::vector<CheckpointFile> all = files;
  all.push_back(text_file(kState, state.dump(1) + "\n"));
  try {
    make_folders(folder_);
    write_folder(temporary, step, all);
    std::error_code error;
    fs::rename(temporary, folder_ / name, error);
    io_check(error, "rename", temporary);
    sync_directory(folder_);
    write_file_atomically(folder_ / kLatest, name + "\n");
    prune(keep);
  } catch (const Error& failure) {
    std::error_code ignored;
    remove_tree(temporary, ignored);
    fail(ErrorKind::io, "checkpoint of step {} not saved: {}", step, failure.what());
  }
}

void CheckpointStore::prune(int64_t keep) const {
  const std::vector<Name> names = list();
  for (size_t i = static_cast<size_t>(keep); i < names.size(); ++i) {
    // Rename first, so that an interrupted removal leaves a temporary folder, not a damaged checkpoint.
    const fs::path removed = temporary_beside(names[i].path);
    std::error_code error;
    fs::rename(names[i].path, removed, error);
    io_check(error, "rename", names[i].path);
    remove_tree(removed, error);
    io_check(error, "remove", removed);
  }
}

std::optional<Checkpoint> CheckpointStore::newest(const Check& check) const {
  std::vector<std::string> damages;
  const std::vector<Name> names = list();
  for (const Name& name : names) {
    Checkpoint checkpoint{name.step, name.path, Json(), {}};
    Damage damage = manifest_damage(name.path, checkpoint.files);
    if (damage.text.empty()) damage = read_state(checkpoint, check);
    if (damage.text.empty()) {
      for (const std::string& text : damages)  // error level: shown by quiet commands too
        spdlog::error("damaged checkpoint: {}; falling back to {}", text, name.path.filename().string());
      return checkpoint;
    }
    // It may be intact: an older one would repeat its steps, or have other results.
    const bool older = name.path != names.back().path;
    require(damage.kind == ErrorKind::data, damage.kind, "{}{}", damage.text,
            older ? fmt::format("; move {} elsewhere to use an older checkpoint", name.path.string()) : "");
    damages.push_back(damage.text);
  }
  require(damages.empty(), ErrorKind::data, "no checkpoint in {} is intact: {}", folder_.string(),
          fmt::join(damages, "; "));
  require(!fs::exists(folder_ / kLatest), ErrorKind::data, "{} names a checkpoint, but {} contains none",
          (folder_ / kLatest).string(), folder_.string());
  return std::nullopt;
}

void CheckpointStore::resume_from(const Checkpoint& whole) const {
  for (const Name& name : list()) {
    if (name.path == whole.folder) break;
    fs::path aside = name.path.string() + ".damaged";
    for (int i = 2; fs::exists(aside); ++i) aside = fmt::format("{}.damaged{}", name.path.string(), i);
    std::error_code error;
    fs::rename(name.path, aside, error);
    io_check(error, "rename", name.path);
  }
  const fs::path latest = folder_ / kLatest;
  const std::string named = whole.folder.filename().string() + "\n";
  if (!fs::exists(latest) || read_file(latest) != named) write_file_atomically(latest, named);
}

void CheckpointStore::remove_leftovers() const {
  remove_temporaries(folder_,
                     [](std::string_view name) { return name == kLatest || name.starts_with(kStep); });
}

}  // namespace modewise::train
