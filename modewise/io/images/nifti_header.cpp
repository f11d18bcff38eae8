#include "modewise/io/images/nifti_header.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include "modewise/io/file_kind.h"

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

// Fields of a header in either byte order.
class Fields {
 public:
  Fields(std::span<const std::byte> bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  template <class T>
  T get(size_t offset) const {
    std::array<std::byte, sizeof(T)> raw;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), sizeof(T), raw.begin());
    if (big_endian_) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<T>(raw);
  }
  std::string text(size_t offset, size_t size) const {
    const std::string all(reinterpret_cast<const char*>(bytes_.data()) + offset, size);
    return all.substr(0, all.find('\0'));
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_endian_;
};

// The header fields of both versions, in their wider types.
struct Raw {
  std::array<int64_t, 8> dim{};
  std::array<double, 8> pixdim{};
  int16_t datatype = 0, bitpix = 0;
  double vox_offset = 0;
  double slope = 0, intercept = 0;
  int32_t qform = 0, sform = 0, units = 0;
  std::array<double, 6> quaternion{};  // b, c, d, offsets x, y, z
  NiftiAffine rows{};
  std::string description;
  int version = 1;
};

Raw read_version_1(const Fields& fields) {
  Raw raw;
  for (size_t i = 0; i < 8; ++i) {
    raw.dim[i] = fields.get<int16_t>(40 + 2 * i);
    raw.pixdim[i] = fields.get<float>(76 + 4 * i);
  }
  raw.datatype = fields.get<int16_t>(70);
  raw.bitpix = fields.get<int16_t>(72);
  raw.vox_offset = fields.get<float>(108);
  raw.slope = fields.get<float>(112);
  raw.intercept = fields.get<float>(116);
  raw.units = fields.get<uint8_t>(123);
  raw.description = fields.text(148, 80);
  raw.qform = fields.get<int16_t>(252);
  raw.sform = fields.get<int16_t>(254);
  for (size_t i = 0; i < 6; ++i) raw.quaternion[i] = fields.get<float>(256 + 4 * i);
  for (size_t i = 0; i < 12; ++i) raw.rows[i / 4][i % 4] = fields.get<float>(280 + 4 * i);
  return raw;
}

Raw read_version_2(const Fields& fields) {
  Raw raw;
  raw.version = 2;
  for (size_t i = 0; i < 8; ++i) {
    raw.dim[i] = fields.get<int64_t>(16 + 8 * i);
    raw.pixdim[i] = fields.get<double>(104 + 8 * i);
  }
  raw.datatype = fields.get<int16_t>(12);
  raw.bitpix = fields.get<int16_t>(14);
  raw.vox_offset = static_cast<double>(fields.get<int64_t>(168));
  raw.slope = fields.get<double>(176);
  raw.intercept = fields.get<double>(184);
  raw.units = fields.get<int32_t>(500);
  raw.description = fields.text(240, 80);
  raw.qform = fields.get<int32_t>(344);
  raw.sform = fields.get<int32_t>(348);
  for (size_t i = 0; i < 6; ++i) raw.quaternion[i] = fields.get<double>(352 + 8 * i);
  for (size_t i = 0; i < 12; ++i) raw.rows[i / 4][i % 4] = fields.get<double>(400 + 8 * i);
  return raw;
}

// sizeof_hdr, the first field, gives both version and byte order.
Raw read_fields(std::span<const std::byte> bytes, const std::string& source, bool& big_endian) {
  require(!bytes.empty(), ErrorKind::data, "{}: the file is empty, a NIfTI volume was expected", source);
  if (bytes.size() < 348) refuse_other_kind(bytes, source, "a NIfTI volume");
  require(bytes.size() >= 348, ErrorKind::data,
          "{}: not a NIfTI volume, or truncated: its header takes 348 bytes, the file has {}", source,
          bytes.size());
  for (const bool big : {false, true}) {
    const Fields fields(bytes, big);
    const auto size = fields.get<int32_t>(0);
    big_endian = big;
    if (size == 348) {
      const std::string_view magic(reinterpret_cast<const char*>(bytes.data()) + 344, 4);
      require(magic != std::string_view("ni1\0", 4), ErrorKind::data,
              "{}: the header of a pair of files (.hdr and .img); convert it to one .nii file", source);
      require(magic == std::string_view("n+1\0", 4), ErrorKind::data,
              "{}: an ANALYZE header or damaged: found {} at byte 344, NIfTI-1 has \"n+1\"", source,
              quote_for_message(magic));
      return read_version_1(fields);
    }
    if (size == 540) {
      require(bytes.size() >= 540, ErrorKind::data,
              "{}: truncated: the header of NIfTI-2 takes 540 bytes, the file has {}", source, bytes.size());
      const std::string_view magic(reinterpret_cast<const char*>(bytes.data()) + 4, 8);
      require(magic.substr(0, 4) != std::string_view("ni2\0", 4), ErrorKind::data,
              "{}: the header of a pair of files (.hdr and .img); convert it to one .nii file", source);
      require(magic == std::string_view("n+2\0\r\n\x1a\n", 8), ErrorKind::data,
              "{}: damaged: found {} at byte 4, NIfTI-2 has \"n+2\\0\\r\\n\\x1a\\n\"", source,
              quote_for_message(magic));
      return read_version_2(fields);
    }
  }
  refuse_other_kind(bytes, source, "a NIfTI volume");
  fail(ErrorKind::data, "{}: not a NIfTI volume: it does not begin with a header size of 348 or 540", source);
}

int64_t bits_of(int16_t datatype, const std::string& source) {
  switch (datatype) {
    case 2:
    case 256:
      return 8;
    case 4:
    case 512:
      return 16;
    case 8:
    case 16:
    case 768:
      return 32;
    case 64:
    case 1024:
    case 1280:
      return 64;
    default:
      fail(ErrorKind::data,
           "{}: unsupported datatype {}; integers of 8 to 64 bits and floats of 32 and 64 bits are supported",
           source, datatype);
  }
}

void read_shape(const Raw& raw, const std::string& source, NiftiHeader& header) {
  require(raw.dim[0] >= 1 && raw.dim[0] <= 7, ErrorKind::data,
          "{}: dim[0]: must be 1 to 7 dimensions, got {}", source, raw.dim[0]);
  header.voxels = 1;
  for (size_t axis = 1; axis <= static_cast<size_t>(raw.dim[0]); ++axis) {
    require(raw.dim[axis] > 0, ErrorKind::data, "{}: dim[{}]: a size must be positive, got {}", source, axis,
            raw.dim[axis]);
    header.shape.push_back(raw.dim[axis]);
    require(!__builtin_mul_overflow(header.voxels, raw.dim[axis], &header.voxels), ErrorKind::data,
            "{}: the volume of {} voxels has more than 64 bits can count", source,
            fmt::join(header.shape, " x "));
  }
  int64_t bytes = 0;
  require(!__builtin_mul_overflow(header.voxels, header.item_size, &bytes), ErrorKind::data,
          "{}: the volume of {} voxels has more bytes than 64 bits can count", source,
          fmt::join(header.shape, " x "));
  while (header.shape.size() > 3 && header.shape.back() == 1) header.shape.pop_back();
  header.shape.resize(std::max<size_t>(header.shape.size(), 3), 1);
}

// A slope of 0 means no scaling.
void read_scale(const Raw& raw, const std::string& source, NiftiHeader& header) {
  if (raw.slope == 0 || !std::isfinite(raw.slope)) return;
  require(std::isfinite(raw.intercept), ErrorKind::data,
          "{}: scl_inter must be a finite number where scl_slope is {}", source, raw.slope);
  header.slope = raw.slope;
  header.intercept = raw.intercept;
}

double determinant(const Matrix& m) {
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

double column_length(const NiftiAffine& affine, size_t column) {
  return std::hypot(affine[0][column], affine[1][column], affine[2][column]);
}

// Directions of the three axes, each of length 1.
Matrix directions(const NiftiAffine& affine) {
  Matrix m;
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column)
      m[row][column] = affine[row][column] / column_length(affine, column);
  }
  return m;
}

// Rotation by the unit quaternion (a, b, c, d), axis k scaled by pixdim and flipped if qfac is −1: nifti1.h,
// method 2.
NiftiAffine quaternion_affine(const Raw& raw, const std::array<double, 3>& spacing,
                              const std::string& source) {
  double b = raw.quaternion[0], c = raw.quaternion[1], d = raw.quaternion[2];
  const double squares = b * b + c * c + d * d;
  require(std::isfinite(squares) && squares < 1.01, ErrorKind::data,
          "{}: quatern_b, c, d ({}, {}, {}) are not part of a unit quaternion", source, b, c, d);
  double a = 1 - squares;
  if (a < 1e-7) {  // half a turn, with rounding
    const double length = std::sqrt(squares);
    b /= length, c /= length, d /= length;
    a = 0;
  } else {
    a = std::sqrt(a);
  }
  const double factor = raw.pixdim[0] < 0 ? -1 : 1;
  const Matrix rotation = {{{a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)},
                            {2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)},
                            {2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - b * b - c * c}}};
  NiftiAffine affine;
  for (size_t row = 0; row < 3; ++row) {
    affine[row] = {rotation[row][0] * spacing[0], rotation[row][1] * spacing[1],
                   rotation[row][2] * spacing[2] * factor, raw.quaternion[3 + row]};
  }
  return affine;
}

void read_space(const Raw& raw, const std::string& source, NiftiHeader& header) {
  for (size_t axis = 0; axis < 3; ++axis) {
    const double size = std::abs(raw.pixdim[axis + 1]);
    header.spacing[axis] = std::isfinite(size) && size > 0 ? size : 1;
  }
  if (raw.sform > 0) {
    header.affine = raw.rows;
  } else if (raw.qform > 0) {
    header.affine = quaternion_affine(raw, header.spacing, source);
  } else {
    for (size_t axis = 0; axis < 3; ++axis) header.affine[axis][axis] = header.spacing[axis];
  }
  for (const auto& row : header.affine) {
    for (const double value : row) {
      require(std::isfinite(value), ErrorKind::data, "{}: {} holds {}, which is not a finite number", source,
              raw.sform > 0 ? "srow" : "the quaternion's offset", value);
    }
  }
  bool flat = false;
  for (size_t axis = 0; axis < 3; ++axis) flat |= !(column_length(header.affine, axis) > 1e-30);
  require(!flat && std::abs(determinant(directions(header.affine))) > 1e-6, ErrorKind::data,
          "{}: srow_x, srow_y, srow_z are not an invertible matrix", source);
  const int unit = raw.units & 7;  // 1 metre, 2 millimetre, 3 micrometre; 0: unknown
  const double scale = unit == 1 ? 1e3 : unit == 3 ? 1e-3 : 1;
  for (size_t row = 0; row < 3; ++row) {
    header.spacing[row] *= scale;
    for (double& value : header.affine[row]) value *= scale;
  }
}

}  // namespace

NiftiHeader parse_nifti_header(std::span<const std::byte> bytes, const std::string& source) {
  NiftiHeader header;
  const Raw raw = read_fields(bytes, source, header.big_endian);
  const int64_t bits = bits_of(raw.datatype, source);
  require(raw.bitpix == bits, ErrorKind::data, "{}: bitpix is {}, but values of datatype {} have {} bits",
          source, raw.bitpix, raw.datatype, bits);
  header.datatype = raw.datatype;
  header.item_size = bits / 8;
  read_shape(raw, source, header);
  const double minimum = raw.version == 1 ? 352 : 544;
  require(
      raw.vox_offset >= minimum && raw.vox_offset < 0x1p62 && raw.vox_offset == std::floor(raw.vox_offset),
      ErrorKind::data, "{}: vox_offset: must be at least {}, got {}", source, minimum, raw.vox_offset);
  header.data_offset = static_cast<uint64_t>(raw.vox_offset);
  read_scale(raw, source, header);
  read_space(raw, source, header);
  header.description = raw.description;
  return header;
}

std::array<NiftiAxis, 3> closest_axes(const NiftiAffine& affine) {
  // The rotation nearest to the directions (polar decomposition), by Newton's iteration: the mean of a matrix
  // and its inverse transpose.
  Matrix r = directions(affine);
  for (int i = 0; i < 100; ++i) {
    const double det = determinant(r);
    Matrix next;
    double change = 0;
    for (size_t row = 0; row < 3; ++row) {
      for (size_t column = 0; column < 3; ++column) {
        const size_t r1 = (row + 1) % 3, r2 = (row + 2) % 3, c1 = (column + 1) % 3, c2 = (column + 2) % 3;
        const double cofactor = r[r1][c1] * r[r2][c2] - r[r1][c2] * r[r2][c1];
        next[row][column] = 0.5 * (r[row][column] + cofactor / det);
        change = std::max(change, std::abs(next[row][column] - r[row][column]));
      }
    }
    r = next;
    if (change < 1e-15) break;
  }
  std::array<size_t, 3> order = {0, 1, 2};
  const auto largest = [&](size_t c) {
    return std::max({std::abs(r[0][c]), std::abs(r[1][c]), std::abs(r[2][c])});
  };
  const std::array<double, 3> clarity = {largest(0), largest(1), largest(2)};
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return clarity[a] != clarity[b] ? clarity[a] > clarity[b] : a < b; });
  std::array<NiftiAxis, 3> axes;
  std::array<bool, 3> taken{};
  for (const size_t axis : order) {
    int best = -1;
    for (int world = 0; world < 3; ++world) {
      if (taken[static_cast<size_t>(world)]) continue;
      if (best < 0 ||
          std::abs(r[static_cast<size_t>(world)][axis]) > std::abs(r[static_cast<size_t>(best)][axis])) {
        best = world;
      }
    }
    taken[static_cast<size_t>(best)] = true;
    axes[axis] = {best, r[static_cast<size_t>(best)][axis] < 0};
  }
  return axes;
}

}  // namespace modewise::io
