// Folders of NIfTI volumes with a CSV of classes.

#include <ATen/TensorOperators.h>
#include <ATen/ops/adaptive_avg_pool3d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/upsample_trilinear3d.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <span>

#include "modewise/core/error.h"
#include "modewise/core/folder.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/volume_classification/sources.h"
#include "modewise/io/images/nifti.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

bool is_nifti(const std::string& name) {
  return name.ends_with(".nii") || name.ends_with(".nii.gz");
}

/// File name without folder and extensions: "scan" for "scan.nii.gz" and "folder/scan".
std::string stem_of(const std::string& file) {
  std::string name = fs::path(file).filename().string();
  for (const char* ending : {".gz", ".nii"})
    if (name.ends_with(ending)) name = name.substr(0, name.size() - std::strlen(ending));
  return name;
}

std::string cell_text(const io::CsvColumn& column, size_t row) {
  if (column.kind == io::CsvColumn::text) return std::string(column.texts[row]);
  if (column.kind == io::CsvColumn::number && std::isfinite(column.numbers[row]))
    return fmt::format("{}", column.numbers[row]);
  return "";
}

const io::CsvColumn* find_column(const io::CsvTable& table, const std::string& asked,
                                 std::initializer_list<const char*> names, const std::string& path) {
  if (!asked.empty()) {
    const io::CsvColumn* column = table.find(asked);
    require(column != nullptr, ErrorKind::data, "{}: there is no column '{}'", path, asked);
    return column;
  }
  for (const io::CsvColumn& column : table.columns)
    for (const char* name : names)
      if (column.name == name) return &column;
  return nullptr;
}

struct Labelled {
  std::string label, split;
};

/// Labels of the CSV by file stem.
std::map<std::string, Labelled> read_labels(const std::string& path, const VolumeConfig& config) {
  const io::CsvTable table = io::read_csv(path, {.plain_numbers = true});
  const auto* files =
      find_column(table, config.file_column, {"file", "filename", "path", "image", "name", "id"}, path);
  const auto* labels =
      find_column(table, config.label_column, {"label", "class", "target", "diagnosis"}, path);
  const auto* split = find_column(table, config.split_column, {"split", "set", "subset"}, path);
  require(files != nullptr && labels != nullptr, ErrorKind::data,
          "{}: expected a column of files (file) and one of classes (label); data.file_column and "
          "data.label_column select others",
          path);
  std::map<std::string, Labelled> out;
  for (size_t row = 0; row < static_cast<size_t>(table.rows); ++row) {
    const std::string name = stem_of(cell_text(*files, row));
    const Labelled entry = {cell_text(*labels, row), split != nullptr ? cell_text(*split, row) : ""};
    require(!name.empty() && !entry.label.empty(), ErrorKind::data, "{}: row {} has no {}", path, row + 1,
            name.empty() ? "file" : "class");
    require(out.emplace(name, entry).second, ErrorKind::data, "{}: duplicate file '{}'", path, name);
  }
  return out;
}

std::vector<int64_t> target_size(const io::NiftiVolume& volume, const VolumeConfig& config) {
  if (!config.size.empty() || config.spacing == 0) return config.size;
  std::vector<int64_t> size;
  for (size_t axis = 0; axis < 3; ++axis) {
    const double voxels = static_cast<double>(volume.shape[axis]) * volume.spacing[axis] / config.spacing;
    require(voxels <= 4096, ErrorKind::config,
            "data.spacing = {} gives {:.0f} voxels for an axis of {} × {} mm", config.spacing, voxels,
            volume.shape[axis], volume.spacing[axis]);
    size.push_back(std::max<int64_t>(1, std::llround(voxels)));
  }
  return size;
}

/// Reads a volume, [x, y, z, channels] float32; axes beyond the third are channels.
at::Tensor read_one(const std::string& path, const VolumeConfig& config) {
  io::NiftiVolume volume = io::read_nifti(path);
  if (config.orientation == "RAS") volume = io::to_ras(std::move(volume));
  std::vector<int64_t> shape(volume.shape.begin(), volume.shape.begin() + 3);
  const at::Tensor out = at::empty({static_cast<int64_t>(volume.values.size())}, at::kFloat);
  std::copy(volume.values.begin(), volume.values.end(), out.mutable_data_ptr<float>());
  shape.push_back(-1);
  const std::vector<int64_t> size = target_size(volume, config);
  return size.empty() ? out.view(shape) : resampled(out.view(shape), size);
}

/// Class names: those of the config, else sorted as numbers, else as text.
std::vector<std::string> class_names(const std::map<std::string, Labelled>& labels,
                                     const VolumeConfig& config, const std::string& path) {
  std::set<std::string> found;
  for (const auto& [name, entry] : labels) found.insert(entry.label);
  if (!config.classes.empty()) {
    const NameIndex known(config.classes);
    for (const std::string& label : found)
      require(known.contains(label), ErrorKind::data, "{}: class '{}' is not among data.classes", path,
              label);
    return config.classes;
  }
  std::vector<std::string> names(found.begin(), found.end());
  const auto number = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
  const bool numbers = std::all_of(names.begin(), names.end(), [](const std::string& text) {
    char* end = nullptr;
    std::strtod(text.c_str(), &end);
    return end != text.c_str() && *end == '\0';
  });
  if (numbers)
    std::sort(names.begin(), names.end(),
              [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
  return names;
}

void put_into_split(VolumeSet& set, const std::string& split, int64_t sample, const std::string& path) {
  if (split == "train" || split == "training")
    set.train.push_back(sample);
  else if (split == "val" || split == "valid" || split == "validation")
    set.validation.push_back(sample);
  else if (split == "test")
    set.test.push_back(sample);
  else
    fail(ErrorKind::data, "{}: '{}' is not train, validation or test", path, split);
}

std::vector<fs::path> nifti_files(const fs::path& path) {
  if (fs::is_regular_file(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file() && is_nifti(entry.path().filename().string()))
      files.push_back(require_utf8(entry.path()));
  std::sort(files.begin(), files.end());
  require(!files.empty(), ErrorKind::data, "{}: expected files .nii or .nii.gz in this folder, found none",
          path.string());
  return files;
}

bool names_split(const std::string& name) {
  static const std::set<std::string> names = {"train", "training", "val", "valid", "validation", "test"};
  return names.contains(name);
}

/// Labels from paths: ROOT/CLASS/…, or ROOT/SPLIT/CLASS/… if all files match. Empty if a file is in ROOT
/// itself, all are in one folder, or a folder is not among the configured classes.
std::map<std::string, Labelled> folder_labels(const fs::path& root, const std::vector<fs::path>& files,
                                              const VolumeConfig& config) {
  std::vector<std::vector<std::string>> parts;
  for (const fs::path& file : files) {
    const fs::path inside = file.lexically_relative(root);
    parts.emplace_back(inside.begin(), inside.end());
  }
  const bool split = std::all_of(parts.begin(), parts.end(),
                                 [](const auto& one) { return one.size() >= 3 && names_split(one.front()); });
  const size_t at = split ? 1 : 0;
  std::map<std::string, Labelled> out;
  std::set<std::string> classes;
  const NameIndex asked(config.classes);
  for (size_t i = 0; i < files.size(); ++i) {
    if (parts[i].size() < at + 2) return {};
    const std::string& name = parts[i][at];
    if (!config.classes.empty() && !asked.contains(name)) return {};
    classes.insert(name);
    out[files[i].string()] = {name, split ? parts[i].front() : ""};
  }
  return classes.size() > 1 ? out : std::map<std::string, Labelled>();
}

/// Reads `files`, one per sample, except those of the samples `left_out`.
void read_files(VolumeSet& set, const std::vector<fs::path>& files, std::span<const int64_t> left_out,
                const VolumeConfig& config) {
  const std::set<int64_t> out(left_out.begin(), left_out.end());
  int64_t channels = -1;
  for (int64_t i = 0; i < std::ssize(files); ++i) {
    set.volumes.emplace_back();
    if (out.contains(i)) continue;
    const std::string file = files[static_cast<size_t>(i)].string();
    set.volumes.back() = read_one(file, config);
    const int64_t found = set.volumes.back().size(-1);
    require(channels < 0 || found == channels, ErrorKind::data,
            "{}: {} channels, but the previous volumes have {}", file, found, channels);
    channels = found;
  }
}

}  // namespace

at::Tensor resampled(const at::Tensor& volume, const std::vector<int64_t>& size) {
  require(size.size() == 3 && volume.dim() == 4, ErrorKind::config,
          "data.size: expected 3 sizes for volumes of 3 axes, got {} for {}", size.size(), volume.dim() - 1);
  const auto value_type = at::kFloat;
  at::Tensor x = volume.to(value_type).movedim(-1, 0).unsqueeze(0);  // [1, C, x, y, z]
  // Missing voxels become 0 and results are divided by the valid weight, so that they do not affect
  // neighbours.
  const at::Tensor seen = at::isfinite(x).to(value_type);
  x = at::nan_to_num(x, 0.0, 0.0, 0.0);
  const auto sample = [&](at::Tensor values) {
    std::vector<int64_t> coarse;
    for (int64_t axis = 0; axis < 3; ++axis) {
      const int64_t from = values.size(axis + 2), to = size[static_cast<size_t>(axis)];
      coarse.push_back(from >= 2 * to ? to : from);
    }
    return at::upsample_trilinear3d(at::adaptive_avg_pool3d(values, coarse), size, false);
  };
  const at::Tensor weight = sample(seen), out = sample(x) / weight;
  return out.masked_fill(weight < 0.5, std::nanf("")).squeeze(0).movedim(0, -1).contiguous();
}

VolumeSet read_nifti_volumes(const VolumeConfig& config, bool with_test) {
  const fs::path root = config.path;
  const std::vector<fs::path> files = nifti_files(root);
  const fs::path csv = config.labels.empty() ? root / "labels.csv" : fs::path(config.labels);
  VolumeSet set;
  std::map<std::string, Labelled> labels;
  const bool by_table = fs::exists(csv);
  if (by_table) {
    labels = read_labels(csv.string(), config);
  } else {
    require(config.labels.empty(), ErrorKind::no_input, "there is no file {} with the labels", csv.string());
    labels = folder_labels(root, files, config);
  }
  if (!labels.empty()) set.classes = class_names(labels, config, csv.string());
  if (!labels.empty() && !by_table)
    set.notes.push_back(
        fmt::format("{}: classes from folder names: {}", root.string(), listed_names(set.classes)));
  const NameIndex classes(set.classes);
  bool split = false;
  std::vector<fs::path> taken;
  for (const fs::path& file : files) {
    const std::string name = stem_of(file.string());
    const auto entry = labels.find(by_table ? name : file.string());
    if (entry == labels.end() && !labels.empty()) {
      set.notes.push_back(fmt::format("{}: no class in {}, skipped", file.string(), csv.string()));
      continue;
    }
    taken.push_back(file);
    set.names.push_back(name);
    set.labels.push_back(-1);
    if (entry == labels.end()) continue;
    set.labels.back() = static_cast<int64_t>(*classes.find(entry->second.label));
    if (entry->second.split.empty()) continue;
    split = true;
    put_into_split(set, entry->second.split, std::ssize(set.labels) - 1, csv.string());
  }
  require(!taken.empty(), ErrorKind::data, "{}: {} lists none of its files", root.string(), csv.string());
  require(!split || set.train.size() + set.validation.size() + set.test.size() == taken.size(),
          ErrorKind::data, "{}: some rows have a split and others do not", csv.string());
  if (!with_test && !split && !labels.empty()) split_by_class(set, config.split_ratios, config.split_seed);
  read_files(set, taken, with_test ? std::span<const int64_t>() : set.test, config);
  return set;
}

}  // namespace modewise::data
