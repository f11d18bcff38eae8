#pragma once
// TIFF and GeoTIFF images of any number of bands: a reader that decodes only the strips or tiles of a window,
// and a writer of rows from top to bottom. Decoding and encoding are libtiff's; the directory is checked
// against the file's bytes before libtiff sees it, and libtiff's messages become part of the error. Only the
// first image of a file is read, with its mask, in the file or next to it (.tif.msk); overviews are ignored.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace modewise::io {

/// Georeferencing: the tags of GeoTIFF 1.1 (OGC 19-008) verbatim, so that a file written with the tags of
/// another has the same transform and coordinate reference system. Missing tags are empty.
struct GeoReference {
  std::vector<double> pixel_scale;     // 33550: size of a pixel along x, y, z
  std::vector<double> tie_points;      // 33922: (column, row, 0, x, y, z) each
  std::vector<double> transformation;  // 34264: 4 × 4, row-major
  std::vector<uint16_t> keys;          // 34735
  std::vector<double> key_doubles;     // 34736
  std::string key_text;                // 34737

  bool operator==(const GeoReference&) const = default;

  /// (a, b, c, d, e, f) with x = a·column + b·row + c and y = d·column + e·row + f, where (0, 0) is the outer
  /// corner of the first pixel even if the tags refer to its centre; the order and values of rasterio's
  /// `transform`. Without a transform in the tags: (1, 0, 0, 0, 1, 0).
  std::array<double, 6> transform() const;
  /// "EPSG:32633" if the keys hold a code, otherwise their citation; empty without either.
  std::string crs_text() const;
};

struct TiffInfo {
  int64_t width = 0, height = 0, bands = 1;
  std::string dtype = "u8";        // u8 i8 u16 i16 u32 i32 u64 i64 f32 f64
  std::optional<double> nodata{};  // GDAL_NODATA
  std::optional<GeoReference> geo{};
  bool tiled = false;
  std::string compression = "deflate";            // none, lzw, deflate, packbits, zstd
  std::vector<std::array<uint8_t, 3>> palette{};  // RGB of each value; empty: none
  int64_t pages = 1;                              // images of full size in the file
  bool masked = false;                            // the image has a mask, as GDAL writes it
};

/// Windowed reader. Throws no_input if the file cannot be read, and data errors that name file, offset and
/// rule. Memory beyond the windows: at most 64 MiB of decoded blocks (as much of a mask) and one block as
/// stored. A compressed block of more than 16 MiB is decoded at most twice, whatever the windows: the second
/// time it is kept in a temporary file.
class TiffReader {
 public:
  explicit TiffReader(const std::filesystem::path& path);
  /// `bytes` must outlive the reader; `source` names them in messages.
  TiffReader(std::span<const std::byte> bytes, std::string source);
  ~TiffReader();
  TiffReader(TiffReader&&) noexcept;
  TiffReader& operator=(TiffReader&&) noexcept;

  const TiffInfo& info() const;
  /// Size of a block of the file (tile, or strip of the whole width): windows of whole rows of blocks, in
  /// order, decode each block once.
  int64_t block_height() const;
  int64_t block_width() const;

  /// The window [height, width, bands], C order. Integers beyond 24 bits and float64 are rounded to float32.
  /// Blocks missing in a sparse file are nodata, or 0; pixels that the mask excludes are NaN. May be called
  /// by several threads, which take turns.
  std::vector<float> read(int64_t row, int64_t column, int64_t height, int64_t width) const;
  /// The same into `out`, which holds height · width · bands values.
  void read(int64_t row, int64_t column, int64_t height, int64_t width, std::span<float> out) const;

  /// Bytes of pixels that libtiff has decoded so far, the cost of the windows.
  int64_t decoded_bytes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writer of an image of dtype u8, u16, i16, i32 or f32 in tiles of 256 × 256 or strips, with deflate, lzw or
/// no compression; beyond 4 GB as BigTIFF. Equal images give equal bytes. The file appears under its name
/// when `close` returns; a writer that is destroyed before leaves no file. Throws cannot_create and io
/// errors.
class TiffWriter {
 public:
  /// All fields of `wanted` but `pages` and `masked` are used. A palette needs one band of u8.
  TiffWriter(const std::filesystem::path& path, const TiffInfo& wanted);
  ~TiffWriter();
  TiffWriter(TiffWriter&&) noexcept;
  TiffWriter& operator=(TiffWriter&&) noexcept;

  /// Rows [n, width, bands] from `first_row` on, which must be the number of rows written so far.
  void write_rows(int64_t first_row, std::span<const uint8_t> rows);
  void write_rows(int64_t first_row, std::span<const uint16_t> rows);
  void write_rows(int64_t first_row, std::span<const int16_t> rows);
  void write_rows(int64_t first_row, std::span<const int32_t> rows);
  void write_rows(int64_t first_row, std::span<const float> rows);
  /// Call after the last row.
  void close();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace modewise::io
