#include "modewise/data/volume_classification/volumes.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <span>
#include <utility>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/hash.h"
#include "modewise/data/volume_classification/sources.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

std::string format_of(const VolumeConfig& config) {
  require(!config.path.empty(), ErrorKind::config,
          "data.path: expected a file or folder of volumes, got none");
  require(fs::exists(config.path), ErrorKind::no_input, "there is no file or folder {}", config.path);
  if (config.format != "auto") return config.format;
  if (fs::is_directory(config.path)) return "nifti";
  const std::string extension = lower_extension(config.path);
  if (extension == ".npz") return "npz";
  if (extension == ".npy") return "npy";
  require(extension == ".nii" || extension == ".gz", ErrorKind::data,
          "{}: expected volumes: .npz, .npy, .nii, .nii.gz or a folder of NIfTI files", config.path);
  return "nifti";
}

/// Masks voxels that are not finite or have one of `values` in all channels.
void mark_missing(VolumeSet& set, const std::vector<double>& values) {
  set.valid.resize(set.volumes.size());
  int64_t missing = 0;
  for (size_t i = 0; i < set.volumes.size(); ++i) {
    const at::Tensor& stored = set.volumes[i];
    if (values.empty() && !stored.is_floating_point()) continue;
    const at::Tensor valid = valid_voxels(stored, values);
    const int64_t count = valid.numel() - valid.sum().item<int64_t>();
    require(count < valid.numel(), ErrorKind::data, "{}: every voxel of volume {} is missing", set.source,
            set.names[i]);
    if (count == 0) continue;
    missing += count;
    set.valid[i] = valid;
  }
  if (missing > 0) set.notes.push_back(fmt::format("{} voxels treated as missing", missing));
}

/// Calls take(piece) with rows of a tensor as contiguous float64, about a million values at a time.
template <class Take>
void for_each_piece(const at::Tensor& rows, const Take& take) {
  const int64_t width = rows.dim() > 1 ? rows.size(1) : 1;
  const int64_t step = std::max<int64_t>((int64_t{1} << 20) / width, 1);
  for (int64_t row = 0; row < rows.size(0); row += step)
    take(rows.narrow(0, row, std::min(step, rows.size(0) - row)).to(at::kDouble).contiguous());
}

/// Mean and standard deviation of each channel over the valid voxels.
VolumeScale standard_scale(const at::Tensor& volume, const at::Tensor& valid) {
  const int64_t channels = volume.size(-1);
  const at::Tensor rows = volume.reshape({-1, channels});
  const at::Tensor flags = valid.defined() ? valid.reshape({-1}).contiguous() : at::Tensor();
  const bool* seen = flags.defined() ? flags.const_data_ptr<bool>() : nullptr;
  VolumeScale scale{at::zeros({channels}), at::ones({channels}), false};
  const auto each = [&](const auto& add) {  // add(channel, value)
    int64_t first = 0;
    for_each_piece(rows, [&](const at::Tensor& piece) {
      const double* values = piece.const_data_ptr<double>();
      for (int64_t i = 0; i < piece.size(0); ++i)
        for (int64_t c = 0; c < channels && (seen == nullptr || seen[first + i]); ++c)
          add(static_cast<size_t>(c), values[i * channels + c]);
      first += piece.size(0);
    });
  };
  const auto count = static_cast<size_t>(channels);
  std::vector<double> sum(count), squares(count), n(count);
  each([&](size_t c, double x) {
    sum[c] += x;
    ++n[c];
  });
  each([&](size_t c, double x) { squares[c] += (x - sum[c] / n[c]) * (x - sum[c] / n[c]); });
  for (size_t c = 0; c < count; ++c) {
    scale.offset.mutable_data_ptr<float>()[c] = static_cast<float>(sum[c] / n[c]);
    if (squares[c] > 0)
      scale.divisor.mutable_data_ptr<float>()[c] = static_cast<float>(std::sqrt(squares[c] / n[c]));
  }
  return scale;
}

/// Largest value of an unsigned dtype; 0 for others.
double unit_of(at::ScalarType type) {
  if (type == at::kByte) return 255;
  if (type == at::kUInt16) return 65535;
  return 0;
}

/// Warns of values that do not fit a run that divides by `unit`; `own`: the divisor of their dtype, or 0.
void check_unit(VolumeSet& set, double unit, double own) {
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
  int64_t outside = 0;
  std::string first;
  for (size_t i = 0; i < set.volumes.size(); ++i) {
    const at::Tensor& valid = set.valid[i];
    const at::Tensor values = set.volumes[i].to(at::kDouble);
    const auto [low, high] = (valid.defined() ? values.masked_select(valid.unsqueeze(-1)) : values).aminmax();
    const auto smallest = low.item<double>(), largest = high.item<double>();
    minimum = std::min(minimum, smallest);
    maximum = std::max(maximum, largest);
    if ((smallest < 0 || largest > unit) && outside++ == 0)
      first = fmt::format("{}: {} to {}", set.called(static_cast<int64_t>(i)), smallest, largest);
  }
  if (outside > 0)
    set.warn(
        fmt::format("{} of {} volumes have values outside 0 to {}, the range of the training volumes, by "
                    "which they are divided (data.intensity); the first is {}",
                    outside, set.volumes.size(), unit, first));
  else if (maximum > minimum && maximum <= (set.volumes.front().is_floating_point() ? 1 : own))
    set.warn(
        fmt::format("all values are between {} and {}, but as in training they are divided by {} "
                    "(data.intensity); the run expects values as stored in its training volumes",
                    minimum, maximum, unit));
}

void scale_intensity(VolumeSet& set, const VolumeConfig& config) {
  const double own = set.narrowed ? 0 : unit_of(set.volumes.front().scalar_type());
  const double unit = config.trained_unit > 0 ? config.trained_unit : own;
  const std::string rule = config.intensity != "auto" ? config.intensity : unit > 0 ? "unit" : "volume";
  require(rule != "unit" || unit > 0, ErrorKind::config,
          "data.intensity = \"unit\" is for volumes of uint8 or uint16; {} {}: use range or volume",
          set.source, set.narrowed ? "has NIfTI volumes" : "has another dtype");
  set.intensity = rule;
  set.unit = rule == "unit" ? unit : 0;
  if (rule == "unit" && unit != own) check_unit(set, unit, own);
  const std::vector<double>& range = config.intensity_range;
  require(rule != "range" || (range.size() == 2 && range[0] < range[1]), ErrorKind::config,
          "data.intensity_range: expected two ascending numbers, got [{}]", fmt::join(range, ", "));
  set.scales.resize(set.volumes.size());
  for (size_t i = 0; i < set.volumes.size(); ++i) {
    const int64_t channels = set.volumes[i].size(-1);
    if (rule == "unit") set.scales[i] = {at::zeros({channels}), at::full({channels}, unit), false};
    if (rule == "range")
      set.scales[i] = {at::full({channels}, range[0]), at::full({channels}, range[1] - range[0]), true};
    if (rule == "volume") set.scales[i] = standard_scale(set.volumes[i], set.valid[i]);
  }
}

void resample(VolumeSet& set, const VolumeConfig& config) {
  if (config.size.empty()) return;
  for (at::Tensor& volume : set.volumes) {
    const std::vector<int64_t> spatial(volume.sizes().begin(), volume.sizes().end() - 1);
    if (spatial == config.size) continue;
    const at::ScalarType type = volume.scalar_type();
    volume = resampled(volume, config.size, config.missing_values);
    if (!at::isFloatingType(type)) volume = volume.round().to(type);
  }
}

}  // namespace

void VoxelSizes::add(std::span<const double> sizes) {
  if (smallest.empty()) smallest = largest = {sizes.begin(), sizes.end()};
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    smallest[axis] = std::min(smallest[axis], sizes[axis]);
    largest[axis] = std::max(largest[axis], sizes[axis]);
  }
}

bool VoxelSizes::exclude(const VoxelSizes& other) const {
  constexpr double kRounding = 1.01;
  if (smallest.empty() || other.smallest.empty()) return false;
  for (size_t axis = 0; axis < smallest.size(); ++axis)
    if (other.smallest[axis] * kRounding < smallest[axis] || other.largest[axis] > kRounding * largest[axis])
      return true;
  return false;
}

std::string VoxelSizes::text() const {
  const std::string low = fmt::format("{:.3g}", fmt::join(smallest, " × ")),
                    high = fmt::format("{:.3g}", fmt::join(largest, " × "));
  return low == high ? low + " mm" : low + " to " + high + " mm";
}

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

at::Tensor valid_voxels(const at::Tensor& stored, const std::vector<double>& missing) {
  at::Tensor valid = at::ones(stored.sizes().slice(0, static_cast<size_t>(stored.dim() - 1)), at::kBool);
  for (int64_t slice = 0; slice < stored.size(0); ++slice) {
    const at::Tensor part = stored.select(0, slice);
    const at::Tensor values = part.is_floating_point() ? part : part.to(at::kDouble);
    at::Tensor place = valid.select(0, slice);
    place.logical_and_(at::isfinite(values).all(-1));
    for (const double value : missing) place.logical_and_(values.ne(value).any(-1));
  }
  return valid;
}

template <class Value>
void VolumeFills::see_all(std::span<const Value> values) {
  const auto place = std::ssize(names_) - 1;
  for (const double x : values)
    if (std::none_of(missing_.begin(), missing_.end(),
                     [&](double mark) { return x == mark || x == static_cast<float>(mark); }))
      fills_.see(x, place);
}

void VolumeFills::see(std::span<const float> values, const std::string& name) {
  names_.push_back(name);
  see_all(values);
}

void VolumeFills::see(const at::Tensor& volume, const std::string& name) {
  if (volume.scalar_type() == at::kByte || volume.scalar_type() == at::kChar) return;
  names_.push_back(name);
  for_each_piece(volume.reshape({-1}), [&](const at::Tensor& piece) {
    see_all(std::span(piece.const_data_ptr<double>(), static_cast<size_t>(piece.numel())));
  });
}

void VolumeFills::warn(VolumeSet& set) const {
  for (const FillValues::Found& fill : fills_.found()) {
    const std::string value = fill_text(fill.value);
    set.warn(
        fmt::format("{} voxels have {}, which usually stands for a missing value, the first in {}: "
                    "data.missing_values = [{}] treats them as missing",
                    fill.count, value, names_[static_cast<size_t>(fill.first)], value));
  }
}

std::string label_table_of(const VolumeConfig& config) {
  const std::string format = format_of(config);
  if (format == "nifti") return config.table_of(config.path);
  return format == "npy" && lower_extension(config.labels) == ".csv" ? config.labels : "";
}

VolumeSet load_volumes(const VolumeConfig& config, bool with_test) {
  const std::string format = format_of(config);
  if (!config.trained && label_table_of(config).empty()) config.refuse_columns(config.path);
  VolumeSet set = format == "nifti" ? read_nifti_volumes(config, with_test)
                  : format == "npy" ? read_npy_volumes(config)
                                    : read_npz_volumes(config, with_test);
  set.source = config.path;
  if (!with_test) leave_test_out(set, set.volumes);
  require(!set.volumes.empty(), ErrorKind::data, "{}: expected volumes, found none", set.source);
  name_classes(set, config.classes, config.classes_are_labels);
  if (set.train.empty() && set.validation.empty() && set.test.empty()) {
    split_by_class(set, config.split_ratios, config.split_seed);
    if (!with_test) leave_test_out(set, set.volumes);
  } else if (set.drawn.empty() && !set.train.empty() && set.validation.empty()) {
    take_validation(set, config.validation_share, config.split_seed);
  }
  if (config.validation_seed > 0) deal_validation(set, config.validation_seed);
  if (format != "nifti") {
    VolumeFills fills(config.missing_values);
    for (size_t i = 0; i < set.volumes.size(); ++i)
      fills.see(set.volumes[i], set.called(static_cast<int64_t>(i)));
    fills.warn(set);
  }
  resample(set, config);
  hash_contents(
      set,
      [&](size_t i) {
        const at::Tensor whole = set.volumes[i].contiguous();
        return content_number({static_cast<const std::byte*>(whole.const_data_ptr()), whole.nbytes()});
      },
      config.trained);
  mark_missing(set, config.missing_values);
  scale_intensity(set, config);
  return set;
}

LabelledBatch gather_volumes(const VolumeSet& set, std::span<const int64_t> samples,
                             const std::vector<int64_t>& wanted) {
  const std::vector<int64_t> size = wanted.empty() ? set.size() : wanted;
  const auto batch = static_cast<int64_t>(samples.size());
  std::vector<int64_t> shape = {batch};
  shape.insert(shape.end(), size.begin(), size.end());
  LabelledBatch out;
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
              "{}: volume {} has {} voxels along axis {}, more than the maximum of {}", set.source,
              set.names[at], volume.size(axis), axis, size[mode]);
      place = place.narrow(axis, 0, volume.size(axis));
      if (masked) mask = mask.narrow(axis, 0, volume.size(axis));
    }
    place.copy_(volume);
    if (const VolumeScale& scale = set.scales[at]; scale.divisor.defined()) {
      place.sub_(scale.offset).div_(scale.divisor);
      if (scale.clip) place.clamp_(0, 1);
    }
    if (set.valid[at].defined()) place.masked_fill_(set.valid[at].logical_not().unsqueeze(-1), 0);
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

bool two_valued(const VolumeSet& set) {
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
  for (const int64_t i : set.train) {
    const auto [low, high] = set.volumes[static_cast<size_t>(i)].to(at::kDouble).aminmax();
    minimum = std::min(minimum, low.item<double>());
    maximum = std::max(maximum, high.item<double>());
  }
  return std::all_of(set.train.begin(), set.train.end(), [&](int64_t i) {
    const at::Tensor volume =
        set.volumes[static_cast<size_t>(i)].to(at::kDouble);  // wide integers have no eq
    return volume.eq(minimum).logical_or(volume.eq(maximum)).all().item<bool>();
  });
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
  for (const at::Tensor& volume : set.volumes) add(set.narrowed ? volume.to(at::kFloat) : volume);
  for (const at::Tensor& mask : set.valid)
    if (mask.defined()) add(mask);
  for (const auto* numbers : {&set.labels, &set.train, &set.validation, &set.test}) add_numbers(*numbers);
  return content_hash({reinterpret_cast<const std::byte*>(all.data()), all.size()});
}

}  // namespace modewise::data
