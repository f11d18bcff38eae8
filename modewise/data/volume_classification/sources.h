#pragma once
// Where volumes come from; load_volumes() chooses.

#include "modewise/data/volume_classification/volumes.h"
#include "modewise/io/arrays/npy.h"

namespace modewise::data {

/// `source` opens the messages. Each sets volumes (of their stored type, or float32), labels and splits where
/// it knows them, names and notes.
VolumeSet read_npz_volumes(const VolumeConfig& config, bool with_test);
VolumeSet read_npy_volumes(const VolumeConfig& config);
/// Without `with_test` the volumes of the test samples stay undefined.
VolumeSet read_nifti_volumes(const VolumeConfig& config, bool with_test);

/// Adds the samples of an array [n, N_1 … N_k] or [n, N_1 … N_k, C] to `set`, without a copy where it holds
/// uint8 or float32. Returns their number.
int64_t append_volumes(VolumeSet& set, io::Array array, const std::string& channels, const std::string& name);

/// Resampled to `size` by linear interpolation (averages where it shrinks to half or less).
at::Tensor resampled(const at::Tensor& volume, const std::vector<int64_t>& size);

}  // namespace modewise::data
