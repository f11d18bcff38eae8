#pragma once
// Directory of a TIFF file (TIFF 6.0, BigTIFF): entries whose values all lie in the file, and the layout of
// the image in strips or tiles, checked before anything of that size is allocated.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/byte_source.h"

namespace modewise::io {

struct TiffEntry {
  uint16_t tag = 0, type = 0;
  uint64_t count = 0;
  uint64_t offset = 0;  // of the first value in the file
};

/// One directory. All errors are data errors that name the source.
class TiffDirectory {
 public:
  /// Reads the first directory of a file. `bytes` must outlive the directory.
  TiffDirectory(const ByteSource& bytes, std::string source);

  const TiffEntry* find(uint16_t tag) const;  // null if absent
  const TiffEntry& at(uint16_t tag) const;    // throws

  /// One integer; `otherwise` if the tag is absent.
  uint64_t number(uint16_t tag, uint64_t otherwise) const;
  uint64_t number(uint16_t tag) const;
  /// Integers first … first + out.size() − 1 of an entry.
  void numbers(const TiffEntry& entry, uint64_t first, std::span<uint64_t> out) const;
  /// All integers, doubles, or the text of an entry of at most 1 MiB; empty if absent.
  std::vector<uint64_t> numbers(uint16_t tag) const;
  std::vector<double> doubles(uint16_t tag) const;
  std::string text(uint16_t tag) const;

  /// Number of full-size images in the file, as far as further directories can be read, up to 1,000.
  int64_t count_pages() const;
  /// The mask of the first image: a further directory with its size, marked as a mask of a full-size image.
  std::optional<TiffDirectory> find_mask() const;
  /// "file: directory at byte 8, tag 324 (TileOffsets)".
  std::string place(uint16_t tag) const;

  uint64_t offset() const { return offset_; }
  bool big() const { return big_; }
  bool big_endian() const { return big_endian_; }
  const ByteSource& bytes() const { return bytes_; }
  const std::string& source() const { return source_; }

 private:
  uint64_t read_directory(uint64_t offset);
  void check_entries() const;
  /// Calls take(directory) with the further directories, as far as they can be read, up to 1,000.
  void for_each_further(const std::function<void(const TiffDirectory&)>& take) const;
  uint64_t field(uint64_t offset, int size, const char* what) const;
  void read_all(uint64_t offset, std::span<std::byte> out, const char* what) const;
  void values(const TiffEntry& entry, std::vector<std::byte>& raw) const;

  const ByteSource& bytes_;
  std::string source_;
  bool big_ = false, big_endian_ = false;
  uint64_t offset_ = 0, next_ = 0;
  std::vector<TiffEntry> entries_;
};

enum class TiffSample { unsigned_integer = 1, signed_integer = 2, floating = 3 };

/// Layout of the samples in blocks (strips of the whole width, or tiles).
struct TiffLayout {
  int64_t width = 0, height = 0, bands = 0;
  int64_t item_size = 1;  // bytes of a sample
  int64_t packed = 1;     // pixels of a sample: 8 in a mask of 1-bit pixels, whose bytes are the samples
  TiffSample sample = TiffSample::unsigned_integer;
  bool tiled = false;
  bool planar = false;  // each band in its own blocks
  uint16_t compression = 1;
  int64_t block_width = 0, block_height = 0, across = 0, down = 0;

  int64_t samples() const { return planar ? 1 : bands; }  // of a pixel in a block
  int64_t row_bytes() const { return block_width * samples() * item_size; }
  /// Number of rows in block row `y`: the last strip is shorter, tiles are not.
  int64_t rows_of(int64_t y) const;
  std::string dtype() const;
  std::string_view compression_name() const;
  const char* block_name() const { return tiled ? "tile" : "strip"; }
  uint16_t offsets_tag() const { return tiled ? 324 : 273; }
  uint16_t sizes_tag() const { return tiled ? 325 : 279; }
};

/// Maximum decoded bytes of a block that is kept in memory as a whole.
inline constexpr int64_t kLargestTiffBlock = int64_t{64} << 20;

/// Throws if the layout is not supported, or if a block lies beyond the end of the file or is too small for
/// its content under any compression.
TiffLayout read_tiff_layout(const TiffDirectory& directory);
/// The same for a mask, of one band of any type or of 1-bit pixels; `width` counts samples.
TiffLayout read_tiff_mask_layout(const TiffDirectory& directory);

/// Offset and size of a block in the file; size 0: missing in a sparse file.
struct TiffBlock {
  uint64_t offset = 0, size = 0;
};
TiffBlock find_tiff_block(const TiffDirectory& directory, const TiffLayout& layout, int64_t index);

}  // namespace modewise::io
