#pragma once
// Header of a NIfTI file (nifti1.h, nifti2.h) with the affine from voxels to space.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace modewise::io {

using NiftiAffine = std::array<std::array<double, 4>, 3>;

struct NiftiHeader {
  bool big_endian = false;
  std::vector<int64_t> shape;  // at least three
  int64_t voxels = 0;
  int16_t datatype = 0;
  int64_t item_size = 0;
  uint64_t data_offset = 0;
  double slope = 1, intercept = 0;  // applied to every voxel
  std::array<double, 3> spacing{};
  NiftiAffine affine{};
  std::string description;

  uint64_t data_bytes() const { return static_cast<uint64_t>(voxels * item_size); }
};

/// Maximum prefix of a file that parse_nifti_header reads.
inline constexpr size_t kNiftiHeaderLimit = 540;

/// `bytes` holds the whole header; the data may be missing.
NiftiHeader parse_nifti_header(std::span<const std::byte> bytes, const std::string& source);

/// The world axis (0 left to right, 1 posterior to anterior, 2 inferior to superior) closest to an axis of
/// the volume, and whether the two run in opposite directions. As nibabel's io_orientation.
struct NiftiAxis {
  int world = 0;
  bool flipped = false;
};
std::array<NiftiAxis, 3> closest_axes(const NiftiAffine& affine);

}  // namespace modewise::io
