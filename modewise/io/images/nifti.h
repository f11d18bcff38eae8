#pragma once
// NIfTI-1 and NIfTI-2 volumes (.nii, .nii.gz), either byte order. Declared sizes are checked against the
// available bytes before anything is allocated. Pairs of header and image (.hdr, .img), ANALYZE files, RGB
// and complex values are refused.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace modewise::io {

struct NiftiVolume {
  std::vector<int64_t>
      shape;  // x, y, z and further axes as declared; trailing axes of 1 beyond the third dropped
  std::vector<float> values;  // C order over shape (the first axis slowest), slope and intercept applied
  std::array<double, 3> spacing{};  // mm, along the first three axes
  // Maps (i, j, k, 1) to mm: the file's sform, else its qform, else its spacing from the first voxel.
  std::array<std::array<double, 4>, 3> affine{};
  std::string orientation;  // direction of each of the three axes: "RAS": right, anterior, superior; "LPS"…
  std::string description;

  bool operator==(const NiftiVolume&) const = default;
};

/// Axes of the result: as the file has them, or permuted and flipped to the directions RAS (no resampling;
/// spacing and affine change with them).
enum class NiftiAxes { stored, ras };

/// `bytes` may be gzip-compressed. Throws data errors that name `source`, field and rule. Takes 4 bytes per
/// voxel; a compressed volume of more than 4 GiB, or of more than `max_unpacked` bytes (the error names
/// --allow-size), is refused before memory is allocated for it.
NiftiVolume parse_nifti(std::span<const std::byte> bytes, const std::string& source,
                        NiftiAxes axes = NiftiAxes::stored,
                        int64_t max_unpacked = std::numeric_limits<int64_t>::max());
NiftiVolume read_nifti(const std::filesystem::path& path, NiftiAxes axes = NiftiAxes::stored,
                       int64_t max_unpacked = std::numeric_limits<int64_t>::max());

}  // namespace modewise::io
