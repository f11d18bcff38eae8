#pragma once
// Labelled volumes: N_1 × … × N_k voxels of C channels, equal in size or not, some voxels perhaps missing.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/labelled_samples.h"
#include "modewise/data/volume_classification/config.h"

namespace modewise::data {

/// How stored values become those a model sees: (x − offset) / divisor for each channel, [C] float32.
struct VolumeScale {
  at::Tensor offset, divisor;  // undefined: none
  bool clip = false;           // to 0 … 1
};

struct VolumeSet : LabelledSamples {
  VolumeSet() : LabelledSamples("volume", "volumes") {}

  std::vector<at::Tensor> volumes;  // each [N_1 … N_k, C], of the type that the file has
  std::vector<at::Tensor> valid;    // each [N_1 … N_k] bool, undefined where all is valid
  std::vector<VolumeScale> scales;  // of each volume
  std::string flag;                 // "adrenalmnist3d" of MedMNIST's sets, else ""

  int64_t count() const { return static_cast<int64_t>(volumes.size()); }
  int64_t modes() const { return volumes.front().dim() - 1; }
  int64_t channels() const { return volumes.front().size(-1); }
  /// The largest size along each mode: what smaller volumes are padded to.
  std::vector<int64_t> size() const;
  /// Whether volumes come with masks: some differ in size, or hold missing voxels.
  bool masked() const;
};

/// Reads what `config` names. Data errors: NPZ without the arrays, labels outside of the classes, a MedMNIST
/// set with wrong counts, sizes of labels and volumes that differ, volumes whose number of axes differs, no
/// volume. Without `with_test` no value of a test volume is read where the file says which they are, and the
/// set has none; where they are found by a split of this program's, their labels alone are.
VolumeSet load_volumes(const VolumeConfig& config, bool with_test = true);

/// Values [B, N_1 … N_k, C] and masks [B, N_1 … N_k], padded at their ends to `size` (the set's own where
/// empty).
LabelledBatch gather_volumes(const VolumeSet& set, std::span<const int64_t> samples,
                             const std::vector<int64_t>& size = {});

/// Whether the training volumes hold two values at most, as masks do.
bool two_valued(const VolumeSet& set);

/// Hash of volumes, masks, labels and splits.
std::string hash_of(const VolumeSet& set);

}  // namespace modewise::data
