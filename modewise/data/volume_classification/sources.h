#pragma once
// Readers of load_volumes().

#include "modewise/data/fill_values.h"
#include "modewise/data/volume_classification/volumes.h"
#include "modewise/io/arrays/npy.h"

namespace modewise::data {

/// The table of labels of `config`; "": none.
std::string label_table_of(const VolumeConfig& config);

/// Each sets volumes (of the stored type, or float32), labels, names and notes, and splits if the data has
/// them.
VolumeSet read_npz_volumes(const VolumeConfig& config, bool with_test);
VolumeSet read_npy_volumes(const VolumeConfig& config);
/// Without `with_test` the test volumes stay undefined.
VolumeSet read_nifti_volumes(const VolumeConfig& config, bool with_test);

/// Appends the samples of an array [n, N_1 … N_k] or [n, N_1 … N_k, C] to `set`, without a copy for uint8 and
/// float32. Returns their number.
int64_t append_volumes(VolumeSet& set, io::Array array, const std::string& channels, const std::string& name);

/// Resamples to `size` by linear interpolation (area averages for downsampling by 2 or more). Voxels that are
/// not finite or have one of `missing` in all channels do not affect others; where they prevail the result is
/// the first of `missing`, or NaN.
at::Tensor resampled(const at::Tensor& volume, const std::vector<int64_t>& size,
                     const std::vector<double>& missing = {});
/// Whether a voxel is finite and has a value outside `missing` in some channel, [N_1 … N_k] bool.
at::Tensor valid_voxels(const at::Tensor& volume, const std::vector<double>& missing);

/// Warns of fill values in volumes that data.missing_values does not list.
class VolumeFills {
 public:
  explicit VolumeFills(const std::vector<double>& missing) : missing_(missing) {}
  /// Counts the fill values of a volume as stored; bytes have none.
  void see(const at::Tensor& volume, const std::string& name);
  void see(std::span<const float> values, const std::string& name);
  void warn(VolumeSet& set) const;

 private:
  template <class Value>
  void see_all(std::span<const Value> values);

  const std::vector<double>& missing_;
  FillValues fills_;
  std::vector<std::string> names_;
};

}  // namespace modewise::data
