#include "modewise/data/volumes.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/hash.h"
#include "modewise/core/random.h"
#include "modewise/data/volume_sources.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

std::string format_of(const VolumeConfig& config) {
  require(!config.path.empty(), ErrorKind::config,
          "data.path: expected a file or folder of volumes, got none");
  require(fs::exists(config.path), ErrorKind::no_input, "there is no file or folder {}", config.path);
  if (config.format != "auto") return config.format;
  if (fs::is_directory(config.path)) return "nifti";
  const std::string extension = fs::path(config.path).extension().string();
  if (extension == ".npz") return "npz";
  if (extension == ".npy") return "npy";
  require(extension == ".nii" || extension == ".gz", ErrorKind::data,
          "{}: expected volumes: .npz, .npy, .nii, .nii.gz or a folder of NIfTI files", config.path);
  return "nifti";
}

void check_shapes(const VolumeSet& set) {
  require(!set.volumes.empty(), ErrorKind::data, "{}: expected volumes, found none", set.source);
  for (size_t i = 0; i < set.volumes.size(); ++i)
    require(set.volumes[i].dim() == set.volumes.front().dim(), ErrorKind::data,
            "{}: volume {} has {} axes, the first has {}", set.source, set.names[i], set.volumes[i].dim() - 1,
            set.modes());
}

/// Labels within the classes; names for classes that have none.
void check_labels(VolumeSet& set, const VolumeConfig& config) {
  if (!config.classes.empty()) set.classes = config.classes;
  const int64_t largest = *std::max_element(set.labels.begin(), set.labels.end());
  if (set.classes.empty()) {
    int64_t classes = largest + 1;
    if (!set.train.empty()) {
      classes = 0;
      for (const int64_t i : set.train) classes = std::max(classes, set.labels[static_cast<size_t>(i)] + 1);
    }
    require(classes <= 65536, ErrorKind::data, "{}: label {} would make {} classes; at most 65536 are taken",
            set.source, classes - 1, classes);
    for (int64_t c = 0; c < std::max<int64_t>(classes, 2); ++c) set.classes.push_back(std::to_string(c));
  }
  for (size_t i = 0; i < set.labels.size(); ++i)
    require(set.labels[i] < std::ssize(set.classes), ErrorKind::data,
            "{}: label {} of sample {} is out of range: there are {} classes, 0 to {}", set.source,
            set.labels[i], set.names[i], set.classes.size(), set.classes.size() - 1);
}

/// Each class cut by the shares, in an order that the seed alone decides.
void make_split(VolumeSet& set, const VolumeConfig& config) {
  const std::vector<double>& ratios = config.split_ratios;
  require(ratios.size() == 3 && ratios[0] > 0 && ratios[0] + ratios[1] + ratios[2] <= 1 + 1e-9,
          ErrorKind::config,
          "data.split_ratios: expected three shares of training, validation and test that sum to at most 1, "
          "got [{}]",
          fmt::join(ratios, ", "));
  for (int64_t label = -1; label < std::ssize(set.classes); ++label) {
    std::vector<int64_t> members;
    for (int64_t i = 0; i < set.count(); ++i)
      if (set.labels[static_cast<size_t>(i)] == label) members.push_back(i);
    const auto n = static_cast<double>(members.size());
    const auto order = random_permutation(
        std::ssize(members), {static_cast<uint64_t>(config.split_seed), 5, static_cast<uint64_t>(label + 1)});
    const int64_t train = std::llround(ratios[0] * n), validation = std::llround((ratios[0] + ratios[1]) * n),
                  test = std::llround((ratios[0] + ratios[1] + ratios[2]) * n);
    for (int64_t i = 0; i < test; ++i)
      (i < train        ? set.train
       : i < validation ? set.validation
                        : set.test)
          .push_back(members[static_cast<size_t>(order[static_cast<size_t>(i)])]);
  }
  for (auto* list : {&set.train, &set.validation, &set.test}) std::sort(list->begin(), list->end());
  set.notes.push_back(fmt::format("split by class with seed {}: {} training, {} validation, {} test",
                                  config.split_seed, set.train.size(), set.validation.size(),
                                  set.test.size()));
}

/// Missing voxels (not finite) of float volumes become 0 under a mask.
void mark_missing(VolumeSet& set) {
  set.valid.resize(set.volumes.size());
  int64_t missing = 0;
  for (size_t i = 0; i < set.volumes.size(); ++i) {
    at::Tensor& volume = set.volumes[i];
    if (volume.scalar_type() == at::kByte) return;
    const at::Tensor finite = at::isfinite(volume).all(-1);
    const int64_t count = finite.numel() - finite.sum().item<int64_t>();
    require(count < finite.numel(), ErrorKind::data, "{}: every voxel of volume {} is missing", set.source,
            set.names[i]);
    if (count == 0) continue;
    missing += count;
    volume = volume.masked_fill(finite.logical_not().unsqueeze(-1), 0).contiguous();
    set.valid[i] = finite;
  }
  if (missing > 0)
    set.notes.push_back(fmt::format("{} voxels that are not finite taken as missing", missing));
}

void standardize(at::Tensor& volume, const at::Tensor& valid) {
  volume = volume.contiguous();
  const int64_t voxels = volume.numel() / volume.size(-1), channels = volume.size(-1);
  float* values = volume.mutable_data_ptr<float>();
  const bool* seen = valid.defined() ? valid.const_data_ptr<bool>() : nullptr;
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0, n = 0;
    for (int64_t i = 0; i < voxels; ++i) {
      if (seen != nullptr && !seen[i]) continue;
      sum += values[i * channels + c];
      ++n;
    }
    const double mean = n > 0 ? sum / n : 0;
    for (int64_t i = 0; i < voxels; ++i)
      if (seen == nullptr || seen[i]) squares += std::pow(values[i * channels + c] - mean, 2);
    const double deviation = n > 0 && squares > 0 ? std::sqrt(squares / n) : 1;
    for (int64_t i = 0; i < voxels; ++i)
      if (seen == nullptr || seen[i])
        values[i * channels + c] = static_cast<float>((values[i * channels + c] - mean) / deviation);
  }
}

void scale_intensity(VolumeSet& set, const VolumeConfig& config) {
  const bool bytes = set.volumes.front().scalar_type() == at::kByte;
  std::string rule = config.intensity;
  if (rule == "auto") rule = bytes ? "unit" : "volume";
  if (bytes && (rule == "unit" || rule == "none")) {
    set.unit = rule == "unit" ? 255 : 1;
    return;
  }
  require(rule != "unit", ErrorKind::config,
          "data.intensity = \"unit\" is for volumes of 8-bit integers; {} holds others: use range or volume",
          set.source);
  const std::vector<double>& range = config.intensity_range;
  require(rule != "range" || (range.size() == 2 && range[0] < range[1]), ErrorKind::config,
          "data.intensity_range: expected two ascending numbers, got [{}]", fmt::join(range, ", "));
  for (size_t i = 0; i < set.volumes.size(); ++i) {
    at::Tensor& volume = set.volumes[i];
    volume = volume.to(at::kFloat);
    if (rule == "range") volume = volume.sub(range[0]).div(range[1] - range[0]).clamp(0, 1).contiguous();
    if (rule == "volume") {
      if (volume.is_view() || !volume.is_contiguous()) volume = volume.clone();
      standardize(volume, set.valid[i]);
    }
    if (rule == "range" && set.valid[i].defined())
      volume = volume.masked_fill(set.valid[i].logical_not().unsqueeze(-1), 0).contiguous();
  }
}

void resample(VolumeSet& set, const VolumeConfig& config) {
  if (config.size.empty()) return;
  for (at::Tensor& volume : set.volumes) {
    const std::vector<int64_t> spatial(volume.sizes().begin(), volume.sizes().end() - 1);
    if (spatial == config.size) continue;
    const bool bytes = volume.scalar_type() == at::kByte;
    volume = resampled(volume, config.size);
    if (bytes) volume = volume.round().to(at::kByte);
  }
}

}  // namespace

std::vector<int64_t> VolumeSet::size() const {
  std::vector<int64_t> out(static_cast<size_t>(modes()), 1);
  for (const at::Tensor& volume : volumes)
    for (size_t mode = 0; mode < out.size(); ++mode)
      out[mode] = std::max(out[mode], volume.size(static_cast<int64_t>(mode)));
  return out;
}

bool VolumeSet::masked() const {
  for (const at::Tensor& mask : valid)
    if (mask.defined()) return true;
  for (const at::Tensor& volume : volumes)
    if (volume.sizes() != volumes.front().sizes()) return true;
  return false;
}

std::vector<int64_t> VolumeSet::split(const std::string& name) const {
  if (name == "train") return train;
  if (name == "validation") return validation;
  if (name == "test") return test;
  std::vector<int64_t> all(volumes.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  return all;
}

std::vector<int64_t> VolumeSet::class_counts(std::span<const int64_t> samples) const {
  std::vector<int64_t> counts(classes.size(), 0);
  for (const int64_t i : samples)
    if (labels[static_cast<size_t>(i)] >= 0) ++counts[static_cast<size_t>(labels[static_cast<size_t>(i)])];
  return counts;
}

VolumeSet load_volumes(const VolumeConfig& config) {
  const std::string format = format_of(config);
  VolumeSet set = format == "nifti" ? read_nifti_volumes(config)
                  : format == "npy" ? read_npy_volumes(config)
                                    : read_npz_volumes(config);
  set.source = config.path;
  check_shapes(set);
  check_labels(set, config);
  if (set.train.empty() && set.validation.empty() && set.test.empty()) make_split(set, config);
  resample(set, config);
  mark_missing(set);
  scale_intensity(set, config);
  return set;
}

VolumeBatch gather_volumes(const VolumeSet& set, std::span<const int64_t> samples,
                           const std::vector<int64_t>& wanted) {
  const std::vector<int64_t> size = wanted.empty() ? set.size() : wanted;
  const auto batch = static_cast<int64_t>(samples.size());
  std::vector<int64_t> shape = {batch};
  shape.insert(shape.end(), size.begin(), size.end());
  VolumeBatch out;
  const bool masked = set.masked();
  if (masked) out.valid = at::zeros(shape, at::kBool);
  shape.push_back(set.channels());
  out.values = at::zeros(shape, at::kFloat);
  out.labels = at::full({batch}, -1, at::kLong);
  for (int64_t i = 0; i < batch; ++i) {
    const auto at = static_cast<size_t>(samples[static_cast<size_t>(i)]);
    const at::Tensor& volume = set.volumes[at];
    at::Tensor place = out.values.select(0, i), mask = masked ? out.valid.select(0, i) : at::Tensor();
    for (size_t mode = 0; mode < size.size(); ++mode) {
      const auto axis = static_cast<int64_t>(mode);
      require(volume.size(axis) <= size[mode], ErrorKind::data,
              "{}: volume {} has {} voxels along axis {}, more than the {} there is room for", set.source,
              set.names[at], volume.size(axis), axis, size[mode]);
      place = place.narrow(axis, 0, volume.size(axis));
      if (masked) mask = mask.narrow(axis, 0, volume.size(axis));
    }
    place.copy_(volume);
    if (set.unit != 1) place.div_(set.unit);
    if (masked) {
      if (set.valid[at].defined())
        mask.copy_(set.valid[at]);
      else
        mask.fill_(true);
    }
    out.labels.select(0, i).fill_(set.labels[at]);
  }
  return out;
}

std::string hash_of(const VolumeSet& set) {
  std::string all;
  const auto add = [&](const at::Tensor& tensor) {
    const at::Tensor whole = tensor.contiguous();
    all += content_hash({static_cast<const std::byte*>(whole.const_data_ptr()), whole.nbytes()});
  };
  const auto add_numbers = [&](const std::vector<int64_t>& numbers) {
    all +=
        content_hash({reinterpret_cast<const std::byte*>(numbers.data()), numbers.size() * sizeof(int64_t)});
  };
  for (const at::Tensor& volume : set.volumes) add(volume);
  for (const at::Tensor& mask : set.valid)
    if (mask.defined()) add(mask);
  for (const auto* numbers : {&set.labels, &set.train, &set.validation, &set.test}) add_numbers(*numbers);
  return content_hash({reinterpret_cast<const std::byte*>(all.data()), all.size()});
}

}  // namespace modewise::data
