#include "modewise/io/images/nifti.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/memory.h"
#include "modewise/io/gzip.h"
#include "modewise/io/images/nifti_header.h"
#include "modewise/io/mapped_file.h"

namespace modewise::io {
namespace {

constexpr int64_t kMaxCompressedVoxels = int64_t{1} << 30;
constexpr size_t kPiece = size_t{1} << 16;

/// Reorders voxels from file order (first axis fastest) to C order of the result.
class Sorter {
 public:
  /// `stride`: distance in the result of neighbours along each axis of the file; `place`: of the first voxel.
  Sorter(std::vector<int64_t> shape, std::vector<int64_t> stride, int64_t place)
      : shape_(std::move(shape)), index_(shape_.size(), 0), stride_(std::move(stride)), place_(place) {}
  int64_t place() const { return place_; }
  void next() {
    for (size_t axis = 0; axis < shape_.size(); ++axis) {
      place_ += stride_[axis];
      if (++index_[axis] < shape_[axis]) return;
      place_ -= stride_[axis] * shape_[axis];
      index_[axis] = 0;
    }
  }

 private:
  std::vector<int64_t> shape_, index_, stride_;
  int64_t place_;
};

template <class T>
void convert(std::span<const std::byte> raw, const NiftiHeader& header, Sorter& sorter,
             std::vector<float>& values) {
  const bool scaled = header.slope != 1 || header.intercept != 0;
  for (size_t at = 0; at < raw.size(); at += sizeof(T)) {
    std::array<std::byte, sizeof(T)> item;
    std::copy_n(raw.begin() + static_cast<std::ptrdiff_t>(at), sizeof(T), item.begin());
    if (header.big_endian) std::reverse(item.begin(), item.end());
    const T value = std::bit_cast<T>(item);
    values[static_cast<size_t>(sorter.place())] =
        scaled ? static_cast<float>(static_cast<double>(value) * header.slope + header.intercept)
               : static_cast<float>(value);
    sorter.next();
  }
}

void convert(std::span<const std::byte> raw, const NiftiHeader& header, Sorter& sorter,
             std::vector<float>& values) {
  switch (header.datatype) {
    case 2:
      return convert<uint8_t>(raw, header, sorter, values);
    case 4:
      return convert<int16_t>(raw, header, sorter, values);
    case 8:
      return convert<int32_t>(raw, header, sorter, values);
    case 16:
      return convert<float>(raw, header, sorter, values);
    case 64:
      return convert<double>(raw, header, sorter, values);
    case 256:
      return convert<int8_t>(raw, header, sorter, values);
    case 512:
      return convert<uint16_t>(raw, header, sorter, values);
    case 768:
      return convert<uint32_t>(raw, header, sorter, values);
    case 1024:
      return convert<int64_t>(raw, header, sorter, values);
    case 1280:
      return convert<uint64_t>(raw, header, sorter, values);
    default:
      fail(ErrorKind::internal, "nifti: datatype {} passed the header's check", header.datatype);
  }
}

std::string orientation_of(const NiftiAffine& affine) {
  std::string text;
  for (const NiftiAxis& axis : closest_axes(affine)) text += (axis.flipped ? "LPI" : "RAS")[axis.world];
  return text;
}

/// An empty volume and the order of its voxels.
std::pair<NiftiVolume, Sorter> volume_of(const NiftiHeader& header, NiftiAxes axes) {
  NiftiVolume volume{header.shape,      {}, header.spacing, header.affine, orientation_of(header.affine),
                     header.description};
  volume.values.resize(static_cast<size_t>(header.voxels));
  std::array<NiftiAxis, 3> target = {{{0, false}, {1, false}, {2, false}}};
  if (axes == NiftiAxes::ras) {
    target = closest_axes(header.affine);
    volume.orientation = "RAS";
  }
  const size_t rank = header.shape.size();
  for (size_t axis = 0; axis < 3; ++axis)
    volume.shape[static_cast<size_t>(target[axis].world)] = header.shape[axis];
  std::vector<int64_t> result(rank, 1), stride;
  for (size_t axis = rank - 1; axis-- > 0;) result[axis] = result[axis + 1] * volume.shape[axis + 1];
  stride = result;
  int64_t place = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    const auto to = static_cast<size_t>(target[axis].world);
    const bool flipped = target[axis].flipped;
    const int64_t last = header.shape[axis] - 1;
    stride[axis] = flipped ? -result[to] : result[to];
    place += flipped ? last * result[to] : 0;
    volume.spacing[to] = header.spacing[axis];
    for (size_t row = 0; row < 3; ++row) {
      const double along = header.affine[row][axis];
      volume.affine[row][to] = flipped ? -along : along;
      if (flipped) volume.affine[row][3] += along * static_cast<double>(last);
    }
  }
  return {std::move(volume), Sorter(header.shape, std::move(stride), place)};
}

void require_data(const NiftiHeader& header, uint64_t there, const std::string& source) {
  require(header.data_offset <= there, ErrorKind::data,
          "{}: vox_offset: the data should begin at byte {}, but the file ends at byte {}", source,
          header.data_offset, there);
  require(header.data_bytes() <= there - header.data_offset, ErrorKind::data,
          "{}: the header declares {} voxels of {} bytes from byte {} on, but the file ends at byte {}: "
          "truncated, "
          "or dim is wrong",
          source, fmt::join(header.shape, " x "), header.item_size, header.data_offset, there);
}

// Two passes over the compressed data: one to check that the content is complete, one to store it.
NiftiVolume parse_compressed(std::span<const std::byte> bytes, const std::string& source, NiftiAxes axes,
                             int64_t max_unpacked) {
  std::vector<std::byte> piece(kPiece);
  NiftiHeader header;
  {
    GzipReader reader(bytes, source);
    uint64_t there = reader.read(std::span(piece).first(kNiftiHeaderLimit));
    header = parse_nifti_header(std::span(piece).first(there), source);
    require(header.voxels <= kMaxCompressedVoxels, ErrorKind::data,
            "{}: the header declares {} voxels; the limit for compressed volumes is {}", source,
            fmt::join(header.shape, " x "), kMaxCompressedVoxels);
    const int64_t needed = header.voxels * int64_t{sizeof(float)};
    require(needed <= max_unpacked, ErrorKind::data,
            "{}: {} voxels take {} of memory, but only {} are left for the volumes of this data set, whose "
            "files are compressed (512 MiB or 32 times the files, whichever is larger); --allow-size "
            "(data.allow_size = true) reads them anyway",
            source, fmt::join(header.shape, " x "), memory_text(static_cast<double>(needed)),
            memory_text(static_cast<double>(std::max<int64_t>(max_unpacked, 0))));
    while (const size_t got = reader.read(piece)) {
      there += got;
      // A little padding may follow the volume.
      require(there <= header.data_offset + header.data_bytes() + kPiece, ErrorKind::data,
              "{}: the header declares {} voxels of {} bytes, but the compressed content is longer", source,
              fmt::join(header.shape, " x "), header.item_size);
    }
    require_data(header, there, source);
  }
  GzipReader reader(bytes, source);
  for (uint64_t skipped = 0; skipped < header.data_offset;) {
    skipped += reader.read(std::span(piece).first(std::min<uint64_t>(kPiece, header.data_offset - skipped)));
  }
  auto [volume, sorter] = volume_of(header, axes);
  for (uint64_t done = 0; done < header.data_bytes();) {
    const auto part = std::span(piece).first(std::min<uint64_t>(kPiece, header.data_bytes() - done));
    done += reader.read(part);
    convert(part, header, sorter, volume.values);
  }
  return volume;
}

}  // namespace

NiftiVolume parse_nifti(std::span<const std::byte> bytes, const std::string& source, NiftiAxes axes,
                        int64_t max_unpacked) {
  if (is_gzip(bytes)) return parse_compressed(bytes, source, axes, max_unpacked);
  const NiftiHeader header = parse_nifti_header(bytes, source);
  require_data(header, bytes.size(), source);
  auto [volume, sorter] = volume_of(header, axes);
  convert(bytes.subspan(header.data_offset, header.data_bytes()), header, sorter, volume.values);
  return volume;
}

NiftiVolume read_nifti(const std::filesystem::path& path, NiftiAxes axes, int64_t max_unpacked) {
  const MappedFile file(path);
  return parse_nifti(file.bytes(), path.string(), axes, max_unpacked);
}

}  // namespace modewise::io
