#pragma once
// Labelled volumes: N_1 × … × N_k voxels with C channels, of equal or different size, perhaps with missing
// voxels.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/labelled_samples.h"
#include "modewise/data/volume_classification/config.h"

namespace modewise::data {

/// Intensity scaling of stored values: (x − offset) / divisor per channel, [C] float32.
struct VolumeScale {
  at::Tensor offset, divisor;  // undefined: identity
  bool clip = false;           // to 0 … 1
};

/// Smallest and largest voxel sizes in mm along each axis; empty: none is known.
struct VoxelSizes {
  std::vector<double> smallest, largest;

  void add(std::span<const double> sizes);
  /// Whether sizes of `other` are outside of these by more than a rounding.
  bool exclude(const VoxelSizes& other) const;
  /// "1 × 1 × 1 to 1 × 1 × 5 mm".
  std::string text() const;
};

struct VolumeSet : LabelledSamples {
  VolumeSet() : LabelledSamples("volume", "volumes") {}

  std::vector<at::Tensor> volumes;  // each [N_1 … N_k, C], in the file's dtype, or narrowed
  bool narrowed = false;            // float32 values, kept in a smaller dtype that holds them exactly
  std::vector<at::Tensor> valid;    // each [N_1 … N_k] bool; undefined: all valid
  std::vector<VolumeScale> scales;  // of each volume
  std::string intensity;            // rule of the scales: unit, range, volume, none
  double unit = 0;                  // divisor of the rule unit
  VoxelSizes voxels;                // of NIfTI volumes that data.spacing does not resample
  std::string flag;                 // MedMNIST set, "adrenalmnist3d", else ""

  int64_t count() const { return static_cast<int64_t>(volumes.size()); }
  int64_t modes() const { return volumes.front().dim() - 1; }
  int64_t channels() const { return volumes.front().size(-1); }
  /// Largest size along each mode, to which smaller volumes are padded.
  std::vector<int64_t> size() const;
  /// Whether volumes have masks: sizes differ, or voxels are missing.
  bool masked() const;
};

/// Loads the volumes of `config`. Data errors: NPZ without the arrays, labels out of range, a MedMNIST set
/// with wrong counts, different numbers of labels and volumes, volumes with different numbers of axes, no
/// volume. Without `with_test` the set has no test volumes and none is read (only the labels, if
/// data.split_ratios select them).
VolumeSet load_volumes(const VolumeConfig& config, bool with_test = true);

/// Batch of values [B, N_1 … N_k, C] and masks [B, N_1 … N_k], padded at the end to `size` (empty: the set's
/// size).
LabelledBatch gather_volumes(const VolumeSet& set, std::span<const int64_t> samples,
                             const std::vector<int64_t>& size = {});

/// Whether the training volumes have at most two values, like masks.
bool two_valued(const VolumeSet& set);

/// Hash of volumes, masks, labels and splits.
std::string hash_of(const VolumeSet& set);

}  // namespace modewise::data
