// Folders of NIfTI volumes with a CSV of classes.

#include <ATen/TensorOperators.h>
#include <ATen/ops/adaptive_avg_pool3d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/upsample_trilinear3d.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <type_traits>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/folder.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/core/unpacked_limit.h"
#include "modewise/data/broken_files.h"
#include "modewise/data/labelled_files.h"
#include "modewise/data/split_names.h"
#include "modewise/data/volume_classification/sources.h"
#include "modewise/io/file_kind.h"
#include "modewise/io/images/nifti.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

bool is_nifti(const std::string& name) {
  return !ending_of(name, {".nii.gz", ".nii"}).empty();
}

/// "folder/scan" for "folder/scan.nii.gz".
std::string without_nifti_ending(const std::string& path) {
  return path.substr(0, path.size() - ending_of(path, {".nii.gz", ".nii", ".gz"}).size());
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

/// The values in the smallest of uint8, int16 and float32 that holds them exactly, −0 included.
at::Tensor narrowed(const std::vector<float>& values) {
  float minimum = 0, maximum = 0;
  for (const float value : values) {
    if (!(std::abs(value) <= 32768) || value != std::trunc(value) || (value == 0 && std::signbit(value))) {
      maximum = std::numeric_limits<float>::infinity();
      break;
    }
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
  }
  const bool is_byte = minimum >= 0 && maximum <= 255, is_short = minimum >= -32768 && maximum <= 32767;
  const at::Tensor out = at::empty({std::ssize(values)}, is_byte    ? at::kByte
                                                         : is_short ? at::kShort
                                                                    : at::kFloat);
  const auto fill = [&](auto* to) {
    std::transform(values.begin(), values.end(), to,
                   [](float value) { return static_cast<std::remove_reference_t<decltype(*to)>>(value); });
  };
  if (is_byte)
    fill(out.mutable_data_ptr<uint8_t>());
  else if (is_short)
    fill(out.mutable_data_ptr<int16_t>());
  else
    fill(out.mutable_data_ptr<float>());
  return out;
}

/// Reads a volume, [x, y, z, channels], narrowed; axes beyond the third are channels. `max_unpacked`: limit
/// of a compressed file.
at::Tensor read_one(const std::string& path, const VolumeConfig& config, int64_t max_unpacked,
                    VolumeFills& fills, VoxelSizes& voxels) {
  const auto axes = config.orientation == "RAS" ? io::NiftiAxes::ras : io::NiftiAxes::stored;
  const io::NiftiVolume volume = io::read_nifti(path, axes, max_unpacked);
  fills.see(volume.values, path);
  if (config.spacing == 0) voxels.add(volume.spacing);
  std::vector<int64_t> shape(volume.shape.begin(), volume.shape.begin() + 3);
  shape.push_back(-1);
  const at::Tensor stored = narrowed(volume.values).view(shape);
  const std::vector<int64_t> size = target_size(volume, config);
  return size.empty() ? stored : resampled(stored, size, config.missing_values);
}

/// The first of the files whose kind is known, with a remedy, or "none". Looks at 100 files.
std::string other_kind(const std::vector<fs::path>& files) {
  for (const fs::path& file : std::span(files).first(std::min<size_t>(files.size(), 100))) {
    std::array<char, 512> begin{};
    std::ifstream stream(file, std::ios::binary);
    stream.read(begin.data(), begin.size());
    const io::FileKind kind =
        io::binary_kind(std::as_bytes(std::span(begin).first(static_cast<size_t>(stream.gcount()))));
    if (!kind.remedy.empty())
      return fmt::format("{}, {}; {}", quote_for_message(file.filename().string()), kind.name, kind.remedy);
  }
  return "none";
}

std::vector<fs::path> nifti_files(const fs::path& path) {
  if (fs::is_regular_file(path)) return {path};
  std::vector<fs::path> all = data_files_below(path), files;
  std::sort(all.begin(), all.end());
  for (const fs::path& file : all)
    if (is_nifti(file.filename().string())) files.push_back(require_utf8(file));
  require(!files.empty(), ErrorKind::data, "{}: expected files .nii or .nii.gz in this folder, found {}",
          path.string(), other_kind(all));
  return files;
}

/// Labels from paths: ROOT/CLASS/…, or ROOT/SPLIT/CLASS/… if there are folders of splits; other files
/// are left out with a note. Empty if a file is in ROOT itself, all are in one folder, or a folder is not
/// among the configured classes.
FileLabels folder_labels(VolumeSet& set, const std::vector<std::string>& files, const VolumeConfig& config) {
  std::vector<std::vector<std::string>> parts;
  for (const std::string& file : files) {
    const fs::path path(file);
    parts.emplace_back(path.begin(), path.end());
  }
  const auto is_in_split = [](const std::vector<std::string>& path) {
    return path.size() >= 3 && split_of_name(path.front());
  };
  std::set<std::string> folders, others;
  for (const std::vector<std::string>& path : parts)
    (is_in_split(path) ? folders : others).insert(path.front());
  const bool split = others.empty() || name_splits(folders);
  const size_t at = split ? 1 : 0;
  FileLabels out;
  std::set<std::string> classes;
  const NameIndex asked(config.classes);
  for (const std::vector<std::string>& path : parts) {
    if (split && !is_in_split(path)) {
      out.emplace_back();
      continue;
    }
    if (path.size() < at + 2) return {};
    const std::string& name = path[at];
    if (!config.classes.empty() && !asked.contains(name)) return {};
    classes.insert(name);
    out.push_back(LabelRow{name, split ? path.front() : "", ""});
  }
  const bool patients = classes.size() > 2 && classes.size() == files.size() && config.classes.empty();
  require(!patients, ErrorKind::data,
          "{}: each of the {} folders has one volume, so that their names are hardly classes ({} …): "
          "labels.csv (or "
          "data.labels) with the columns file and label names the classes",
          config.path, files.size(), *classes.begin());
  if (classes.size() < 2) return {};
  if (split && !others.empty()) set.notes.push_back(left_out_of_splits(config.path, others));
  return out;
}

/// Reads `files`, one per sample, except those of the samples `left_out`; leaves broken ones out of the set.
void read_files(VolumeSet& set, const std::vector<fs::path>& files, std::span<const int64_t> left_out,
                const VolumeConfig& config) {
  const std::set<int64_t> unread(left_out.begin(), left_out.end());
  BrokenFiles broken(config.skip_broken, std::ssize(files));
  VolumeFills fills(config.missing_values);
  std::vector<at::Tensor> volumes;
  std::vector<bool> out(files.size(), false);
  int64_t file_bytes = 0, stored = 0;
  std::error_code missing;  // the reader reports it
  for (const fs::path& file : files)
    if (const uintmax_t bytes = fs::file_size(file, missing); !missing)
      file_bytes += static_cast<int64_t>(bytes);
  const int64_t limit = config.allow_size ? std::numeric_limits<int64_t>::max() : unpacked_limit(file_bytes);
  int64_t channels = -1;
  for (int64_t i = 0; i < std::ssize(files); ++i) {
    const std::string file = files[static_cast<size_t>(i)].string();
    at::Tensor volume;
    if (!unread.contains(i)) {
      out[static_cast<size_t>(i)] =
          !broken.read([&] { volume = read_one(file, config, limit - stored, fills, set.voxels); });
      if (out[static_cast<size_t>(i)]) continue;
      const int64_t found = volume.size(-1);
      require(channels < 0 || found == channels, ErrorKind::data,
              "{}: {} channels, but the previous volumes have {}", file, found, channels);
      channels = found;
      stored += static_cast<int64_t>(volume.nbytes());
    }
    volumes.push_back(std::move(volume));
  }
  leave_out(set, out);
  set.volumes = std::move(volumes);
  for (std::string& warning : broken.warnings()) set.warn(std::move(warning));
  fills.warn(set);
  if (VoxelSizes{set.voxels.smallest, set.voxels.smallest}.exclude(set.voxels))
    set.notes.push_back(fmt::format("{}: voxels of {}; data.spacing resamples volumes to one voxel size",
                                    config.path, set.voxels.text()));
}

}  // namespace

at::Tensor resampled(const at::Tensor& volume, const std::vector<int64_t>& size,
                     const std::vector<double>& missing) {
  require(size.size() == 3 && volume.dim() == 4, ErrorKind::config,
          "data.size: expected 3 sizes for volumes of 3 axes, got {} for {}", size.size(), volume.dim() - 1);
  const auto value_type = at::kFloat;
  at::Tensor x = volume.to(value_type).movedim(-1, 0).unsqueeze(0);  // [1, C, x, y, z]
  // Missing voxels become 0 and results are divided by the valid weight, so that they do not affect
  // neighbours.
  at::Tensor seen = at::isfinite(x).to(value_type);
  if (!missing.empty()) {
    seen = seen * valid_voxels(volume, missing).to(value_type);
    x = x.masked_fill(seen == 0, 0.0);
  }
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
  const double none = missing.empty() ? std::nan("") : missing.front();
  return out.masked_fill(weight < 0.5, none).squeeze(0).movedim(0, -1).contiguous();
}

VolumeSet read_nifti_volumes(const VolumeConfig& config, bool with_test) {
  const fs::path root = config.path;
  const std::vector<fs::path> all = nifti_files(root);
  FolderFiles files{root, {}, without_nifti_ending};
  for (const fs::path& file : all)
    files.paths.push_back(file == root ? file.filename().string()
                                       : file.lexically_relative(root).generic_string());
  VolumeSet set;
  set.narrowed = true;
  LabelTable table;
  FileLabels labels;
  if (const std::string csv = label_table_of(config); !csv.empty()) {
    table = read_file_labels(csv, config, without_nifti_ending);
    labels = match_labels(set, table, files, config);
    set.classes = class_names(labels, config.classes, csv, config);
  } else {
    labels = folder_labels(set, files.paths, config);
    if (!labels.empty()) {
      set.classes = class_names(labels, config.classes, root.string(), config);
      set.notes.push_back(
          fmt::format("{}: classes from folder names: {}", root.string(), listed_names(set.classes)));
    }
  }
  std::vector<fs::path> taken;
  // Before reading: the split is the same with and without the test volumes, and without broken ones.
  for (const size_t i :
       take_files(set, files, std::move(labels), table, config.split_ratios, config.split_seed))
    taken.push_back(all[i]);
  std::transform(set.names.begin(), set.names.end(), set.names.begin(), without_nifti_ending);
  set.names = short_names(set.names);
  read_files(set, taken, with_test ? std::span<const int64_t>() : set.test, config);
  return set;
}

}  // namespace modewise::data
