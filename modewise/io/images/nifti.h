#pragma once
// Volumes in NIfTI-1 and NIfTI-2 files (.nii, .nii.gz), either byte order. Every declared size is checked
// against the content that is there before anything is allocated for it. Pairs of header and image (.hdr,
// .img), ANALYZE files, colours and complex numbers are refused.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace modewise::io {

struct NiftiVolume {
  std::vector<int64_t>
      shape;  // x, y, z and further axes as declared; trailing axes of 1 beyond the third dropped
  std::vector<float> values;  // C order over shape (the first axis slowest), slope and intercept applied
  std::array<double, 3> spacing{};  // mm, along the first three axes
  // From (i, j, k, 1) to mm: the file's sform, else its qform, else its spacing about the first voxel.
  std::array<std::array<double, 4>, 3> affine{};
  std::string orientation;  // where each of the three axes points: "RAS": right, anterior, superior; "LPS"…
  std::string description;

  bool operator==(const NiftiVolume&) const = default;
};

/// `bytes` may be compressed by gzip. Throws data errors that name `source`, the field and the rule. Holds 4
/// bytes a voxel; compressed content of more than 4 GiB is refused.
NiftiVolume parse_nifti(std::span<const std::byte> bytes, const std::string& source);
NiftiVolume read_nifti(const std::filesystem::path& path);

/// Axes permuted and mirrored (never resampled) so that the orientation is RAS; spacing and affine with them.
NiftiVolume to_ras(NiftiVolume volume);

}  // namespace modewise::io
