// Volume sets in NPZ and NPY files, including MedMNIST's.

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>
#include <tuple>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/array_tensor.h"
#include "modewise/data/label_table.h"
#include "modewise/data/volume_classification/medmnist.h"
#include "modewise/data/volume_classification/sources.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/io/number_text.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kSplits = {"train", "val", "test"};

std::string array_names(const std::map<std::string, io::Array>& arrays) {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

void check_medmnist(VolumeSet& set, const VolumeConfig& config, const MedMnistSet& known, bool with_test) {
  const std::array<int64_t, 3> found = {std::ssize(set.train), std::ssize(set.validation),
                                        with_test ? std::ssize(set.test) : known.counts[2]};
  set.flag = known.flag;
  if (set.classes.empty()) set.classes = known.classes;
  if (found == known.counts) return;
  const std::string said =
      fmt::format("{}: {} has {} samples (training, validation, test), this file {}", config.path, known.flag,
                  fmt::join(known.counts, " + "), fmt::join(found, " + "));
  if (found == known.older_counts || config.counts == "any") {
    set.notes.insert(set.notes.begin(), found == known.older_counts
                                            ? said + ": it is from an older release and contains " +
                                                  std::string(known.older_note) +
                                                  "; results differ from those on newer files"
                                            : said);
    ++set.warnings;
    return;
  }
  fail(ErrorKind::data, "{}; data.counts = \"any\" accepts it", said);
}

/// Appends the samples of an array with their labels, which a trained model does not need; returns their
/// number.
int64_t append_samples(VolumeSet& set, std::map<std::string, io::Array>& arrays, const std::string& images,
                       const std::string& labels, const VolumeConfig& config) {
  const bool labelled = !config.trained || arrays.contains(labels);
  for (const std::string& name : {images, labels})
    require(arrays.contains(name) || (name == labels && !labelled), ErrorKind::data,
            "{}: expected the arrays train_images, train_labels, val_images, val_labels, test_images and "
            "test_labels, {} is missing (there are: {}){}",
            config.path, name, array_names(arrays),
            arrays.empty() || arrays.contains("train_images")
                ? ""
                : "; data.images and data.labels name arrays without splits");
  const int64_t samples =
      append_volumes(set, std::move(arrays.at(images)), config.channels, config.path + ": " + images);
  if (labelled)
    append_labels(set, arrays.at(labels), samples, config.path + ": " + labels);
  else
    set.labels.resize(set.volumes.size(), -1);
  return samples;
}

VolumeSet read_six_arrays(std::map<std::string, io::Array> arrays, const VolumeConfig& config,
                          bool with_test) {
  VolumeSet set;
  for (size_t i = 0; i < (with_test ? 3 : 2); ++i) {
    const std::string part = fmt::format("{}_", kSplits[i]), images = part + "images",
                      labels = part + "labels";
    if (i == 1 && !arrays.contains(images) && !arrays.contains(labels)) continue;
    const int64_t first = set.count();
    const int64_t samples = append_samples(set, arrays, images, labels, config);
    std::vector<int64_t>& list = i == 0 ? set.train : i == 1 ? set.validation : set.test;
    for (int64_t n = 0; n < samples; ++n) {
      list.push_back(first + n);
      set.names.push_back(array_sample_name(part, n));
    }
  }
  if (const MedMnistSet* known = find_medmnist(config.path)) check_medmnist(set, config, *known, with_test);
  return set;
}

/// Names of arrays have no effect on MedMNIST's. Runs of earlier versions may have them.
void refuse_array_names(const VolumeConfig& config) {
  const VolumeConfig usual;
  for (const auto& [key, given, left] : {std::tuple("images", &config.images, &usual.images),
                                         std::tuple("labels", &config.labels, &usual.labels)})
    require(config.trained || *given == *left, ErrorKind::config,
            "{}: data.{} = {} has no effect, as the file has MedMNIST's arrays, train_images, train_labels "
            "and so on: leave it out",
            config.path, key, *given);
}

/// Takes labels, splits and groups from a table with one row per sample, in order.
void take_row_labels(VolumeSet& set, const std::string& path, const VolumeConfig& config, int64_t samples) {
  const LabelTable table = read_row_labels(path, config);
  if (config.label_column.empty() && table.columns.size() > 1)
    set.notes.push_back(
        fmt::format("{}: the labels are those of column '{}' (data.label_column)", path, table.label_column));
  std::vector<double> labels;
  for (const LabelRow& row : table.rows) {
    double& label = labels.emplace_back(std::nan(""));
    require(row.label.empty() || io::parse_number(row.label, table.decimal, label), ErrorKind::data,
            "{}: expected a column of labels (whole numbers){}; the columns are: {}", path,
            config.label_column.empty() ? "" : " named '" + config.label_column + "'",
            listed_names(table.columns));
  }
  append_labels(set, io::make_array({std::ssize(labels)}, labels), samples, path);
  take_rows(set, table, table.rows);
}

/// Warns of an axis that is as short as channels usually are, but is taken as one of the volume.
void warn_of_channels(VolumeSet& set, const std::vector<int64_t>& shape, const std::string& name) {
  constexpr int64_t kMaxChannels = 4;
  const auto axes = std::ssize(shape);
  if (axes < 4) return;
  const auto alone = [&](size_t at) {  // shorter than all others besides the samples
    for (size_t i = 1; i < shape.size(); ++i)
      if ((shape[i] <= kMaxChannels) != (i == at)) return false;
    return true;
  };
  const bool first = alone(1), last = axes == 4 && alone(3);
  if (!first && !last) return;
  const std::vector<int64_t> size(shape.begin() + 1, shape.end() - (axes > 4 ? 1 : 0));
  set.warn(fmt::format(
      "{}: shape [{}] is read as volumes of {} voxels{}; data.channels = \"{}\" takes the axis of {} as "
      "channels",
      name, fmt::join(shape, ", "), fmt::join(size, " × "),
      axes > 4 ? fmt::format(" with {} channels", shape.back()) : "", first ? "first" : "last",
      first ? shape[1] : shape[3]));
}

void number_samples(VolumeSet& set) {
  for (int64_t i = 0; i < set.count(); ++i) set.names.push_back(std::to_string(i));
}

}  // namespace

int64_t append_volumes(VolumeSet& set, io::Array array, const std::string& channels,
                       const std::string& name) {
  const auto axes = static_cast<int64_t>(array.shape.size());
  const bool first = channels == "first", last = channels == "last" || (channels == "auto" && axes >= 5);
  require(axes - (first || last ? 1 : 0) >= 3 && array.size() > 0, ErrorKind::data,
          "{}: expected volumes [samples, x, y, z] or [samples, x, y, z, channels], got shape [{}]", name,
          fmt::join(array.shape, ", "));
  if (channels == "auto" && set.volumes.empty()) warn_of_channels(set, array.shape, name);
  const int64_t samples = array.shape[0];
  const at::Tensor all = owning_tensor(std::move(array));
  const at::Tensor stored = first ? all.movedim(1, -1) : last ? all : all.unsqueeze(-1);
  if (!set.volumes.empty())
    require(stored.dim() - 2 == set.modes() && stored.size(-1) == set.channels() &&
                stored.scalar_type() == set.volumes.front().scalar_type(),
            ErrorKind::data,
            "{}: volumes with {} axes and {} channels, but the previous ones have {} axes and {} channels, "
            "or another type",
            name, stored.dim() - 2, stored.size(-1), set.modes(), set.channels());
  for (int64_t i = 0; i < samples; ++i) set.volumes.push_back(stored.select(0, i));
  return samples;
}

VolumeSet read_npz_volumes(const VolumeConfig& config, bool with_test) {
  static const std::array<std::string, 2> of_test = {"test_images", "test_labels"};
  std::map<std::string, io::Array> arrays =
      with_test ? io::read_npz(config.path) : io::read_npz_without(config.path, of_test);
  const std::string labels = config.labels.empty() ? "labels" : config.labels;
  const bool plain = arrays.contains(config.images) && (config.trained || arrays.contains(labels));
  if (config.format == "medmnist" || !plain || arrays.contains("train_images")) {
    if (arrays.contains("train_images")) refuse_array_names(config);
    return read_six_arrays(std::move(arrays), config, with_test);
  }
  VolumeSet set;
  append_samples(set, arrays, config.images, labels, config);
  number_samples(set);
  return set;
}

VolumeSet read_npy_volumes(const VolumeConfig& config) {
  VolumeSet set;
  const int64_t samples = append_volumes(set, io::read_npy(config.path), config.channels, config.path);
  fs::path labels = config.labels;
  if (labels.empty()) {
    labels = fs::path(config.path);
    labels.replace_filename(labels.stem().string() + "_labels.npy");
  }
  const bool labelled = !config.trained || fs::exists(labels);
  require(!labelled || fs::exists(labels), ErrorKind::no_input,
          "{}: there is no label file {}; set --labels FILE", config.path, labels.string());
  if (!labelled)
    set.labels.resize(set.volumes.size(), -1);
  else if (!label_table_of(config).empty())
    take_row_labels(set, labels.string(), config, samples);
  else
    append_labels(set, io::read_npy(labels.string()), samples, labels.string());
  number_samples(set);
  return set;
}

}  // namespace modewise::data
