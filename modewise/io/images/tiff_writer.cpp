#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/output_file.h"
#include "modewise/io/images/tiff.h"
#include "modewise/io/images/tiff_handle.h"

namespace modewise::io {
namespace {

constexpr int64_t kTile = 256;
constexpr uint64_t kStripBytes = uint64_t{1} << 18;
constexpr uint32_t kNodataTag = 42113;

struct Dtype {
  std::string_view name;
  int64_t size;
  int sample_format;
};
constexpr std::array<Dtype, 5> kDtypes = {{{"u8", 1, SAMPLEFORMAT_UINT},
                                           {"u16", 2, SAMPLEFORMAT_UINT},
                                           {"i16", 2, SAMPLEFORMAT_INT},
                                           {"i32", 4, SAMPLEFORMAT_INT},
                                           {"f32", 4, SAMPLEFORMAT_IEEEFP}}};

const Dtype& find_dtype(const std::string& name) {
  const auto found = std::ranges::find(kDtypes, name, &Dtype::name);
  require(found != kDtypes.end(), ErrorKind::internal,
          "TiffWriter: dtype must be u8, u16, i16, i32 or f32, got {}", name);
  return *found;
}

uint16_t compression_code(const std::string& name) {
  if (name == "none") return COMPRESSION_NONE;
  if (name == "lzw") return COMPRESSION_LZW;
  require(name == "deflate", ErrorKind::internal,
          "TiffWriter: compression must be none, lzw or deflate, got {}", name);
  return COMPRESSION_ADOBE_DEFLATE;
}

// Registers the tags of GeoTIFF and GDAL, which libtiff does not know, for this file.
void declare_tags(TIFF* tiff) {
  static const TIFFFieldInfo kFields[] = {{33550, TIFF_VARIABLE, TIFF_VARIABLE, TIFF_DOUBLE, FIELD_CUSTOM, 1,
                                           1, const_cast<char*>("ModelPixelScale")},
                                          {33922, TIFF_VARIABLE, TIFF_VARIABLE, TIFF_DOUBLE, FIELD_CUSTOM, 1,
                                           1, const_cast<char*>("ModelTiepoint")},
                                          {34264, TIFF_VARIABLE, TIFF_VARIABLE, TIFF_DOUBLE, FIELD_CUSTOM, 1,
                                           1, const_cast<char*>("ModelTransformation")},
                                          {34735, TIFF_VARIABLE, TIFF_VARIABLE, TIFF_SHORT, FIELD_CUSTOM, 1,
                                           1, const_cast<char*>("GeoKeyDirectory")},
                                          {34736, TIFF_VARIABLE, TIFF_VARIABLE, TIFF_DOUBLE, FIELD_CUSTOM, 1,
                                           1, const_cast<char*>("GeoDoubleParams")},
                                          {34737, TIFF_VARIABLE, TIFF_VARIABLE, TIFF_ASCII, FIELD_CUSTOM, 1,
                                           0, const_cast<char*>("GeoAsciiParams")},
                                          {kNodataTag, TIFF_VARIABLE, TIFF_VARIABLE, TIFF_ASCII, FIELD_CUSTOM,
                                           1, 0, const_cast<char*>("GDAL_NODATA")}};
  TIFFMergeFieldInfo(tiff, kFields, static_cast<uint32_t>(std::size(kFields)));
}

}  // namespace

class TiffWriter::Impl {
 public:
  Impl(const std::filesystem::path& path, const TiffInfo& wanted)
      : path_(path), info_(wanted), item_(find_dtype(wanted.dtype).size) {
    check_wanted();
    row_bytes_ = info_.width * info_.bands * item_;
    block_rows_ = info_.tiled
                      ? kTile
                      : std::clamp<int64_t>(static_cast<int64_t>(kStripBytes) / row_bytes_, 1, info_.height);
    require(!is_stream(path), ErrorKind::cannot_create,
            "cannot write an image to {}: expected a file, got a device, pipe or descriptor", path.string());
    file_ = std::make_unique<OutputFile>(path);
    // Compressed data can be a little longer than its content, and the tables of blocks come on top.
    const bool big = static_cast<double>(row_bytes_) * static_cast<double>(info_.height) > 3.9e9;
    handle_ = std::make_unique<TiffHandle>(file_->descriptor(), path_.string(), big);
    write_tags();
    rows_.reserve(static_cast<size_t>(std::min(block_rows_, info_.height) * row_bytes_));
  }

  void write(int64_t first_row, std::span<const std::byte> rows, std::string_view dtype) {
    require(handle_ != nullptr, ErrorKind::internal, "TiffWriter: {} is closed", path_.string());
    require(dtype == info_.dtype, ErrorKind::internal, "TiffWriter: {} holds {}, got {}", path_.string(),
            info_.dtype, dtype);
    const auto size = static_cast<int64_t>(rows.size());
    require(first_row == next_row_ && size % row_bytes_ == 0 && next_row_ + size / row_bytes_ <= info_.height,
            ErrorKind::internal, "TiffWriter: {} bytes from row {} do not continue at row {} of {} x {} x {}",
            size, first_row, next_row_, info_.height, info_.width, info_.bands);
    next_row_ += size / row_bytes_;
    while (!rows.empty()) {
      const int64_t there = static_cast<int64_t>(rows_.size());
      const int64_t full = std::min(block_rows_, info_.height - written_) * row_bytes_;
      const auto part =
          rows.first(static_cast<size_t>(std::min<int64_t>(full - there, static_cast<int64_t>(rows.size()))));
      rows_.insert(rows_.end(), part.begin(), part.end());
      rows = rows.subspan(part.size());
      if (static_cast<int64_t>(rows_.size()) == full) write_blocks();
    }
  }

  void close() {
    require(handle_ != nullptr && written_ == info_.height, ErrorKind::internal,
            "TiffWriter: {} of {} rows of {} were written", written_, info_.height, path_.string());
    require_written(TIFFWriteDirectory(handle_->get()) == 1);
    require_written(TIFFFlush(handle_->get()) == 1);
    handle_.reset();
    file_->finish();
  }

 private:
  void check_wanted() const {
    require(info_.width > 0 && info_.height > 0 && info_.bands > 0 && info_.width <= INT32_MAX &&
                info_.height <= INT32_MAX && info_.bands <= 65535,
            ErrorKind::internal, "TiffWriter: an image of {} x {} x {} cannot be written", info_.height,
            info_.width, info_.bands);
    require(info_.palette.empty() || (info_.bands == 1 && info_.dtype == "u8" && info_.palette.size() <= 256),
            ErrorKind::internal, "TiffWriter: {} colours need one band of u8, got {} of {}",
            info_.palette.size(), info_.bands, info_.dtype);
  }

  template <class... Values>
  void set(uint32_t tag, Values... values) {
    require_written(TIFFSetField(handle_->get(), tag, values...) == 1);
  }

  void set_doubles(uint32_t tag, const std::vector<double>& values) {
    if (!values.empty()) set(tag, static_cast<int>(values.size()), values.data());
  }

  void write_tags() {
    declare_tags(handle_->get());
    set(TIFFTAG_IMAGEWIDTH, static_cast<uint32_t>(info_.width));
    set(TIFFTAG_IMAGELENGTH, static_cast<uint32_t>(info_.height));
    set(TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(info_.bands));
    set(TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * item_));
    set(TIFFTAG_SAMPLEFORMAT, find_dtype(info_.dtype).sample_format);
    set(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    const uint16_t compression = compression_code(info_.compression);
    set(TIFFTAG_COMPRESSION, static_cast<int>(compression));
    if (compression != COMPRESSION_NONE && info_.dtype == "f32")
      set(TIFFTAG_PREDICTOR, PREDICTOR_FLOATINGPOINT);
    set(TIFFTAG_PHOTOMETRIC, info_.palette.empty() ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_PALETTE);
    if (info_.bands > 1) {
      const std::vector<uint16_t> extra(static_cast<size_t>(info_.bands - 1), EXTRASAMPLE_UNSPECIFIED);
      set(TIFFTAG_EXTRASAMPLES, static_cast<int>(extra.size()), extra.data());
    }
    if (info_.tiled) {
      set(TIFFTAG_TILEWIDTH, static_cast<uint32_t>(kTile));
      set(TIFFTAG_TILELENGTH, static_cast<uint32_t>(kTile));
    } else {
      set(TIFFTAG_ROWSPERSTRIP, static_cast<uint32_t>(block_rows_));
    }
    if (!info_.palette.empty()) write_palette();
    if (info_.geo) write_geo(*info_.geo);
    if (info_.nodata) set(kNodataTag, fmt::format("{}", *info_.nodata).c_str());
  }

  void write_palette() {
    std::array<std::vector<uint16_t>, 3> map;
    for (size_t c = 0; c < 3; ++c) {
      map[c].assign(256, 0);
      for (size_t i = 0; i < info_.palette.size(); ++i)
        map[c][i] = static_cast<uint16_t>(257 * info_.palette[i][c]);
    }
    set(TIFFTAG_COLORMAP, map[0].data(), map[1].data(), map[2].data());
  }

  void write_geo(const GeoReference& geo) {
    set_doubles(33550, geo.pixel_scale);
    set_doubles(33922, geo.tie_points);
    set_doubles(34264, geo.transformation);
    if (!geo.keys.empty()) set(34735, static_cast<int>(geo.keys.size()), geo.keys.data());
    set_doubles(34736, geo.key_doubles);
    if (!geo.key_text.empty()) set(34737, geo.key_text.c_str());
  }

  // Writes the buffered rows as a strip, or a row of tiles.
  void write_blocks() {
    const int64_t index = written_ / block_rows_, rows = static_cast<int64_t>(rows_.size()) / row_bytes_;
    if (!info_.tiled) {
      require_written(TIFFWriteEncodedStrip(handle_->get(), static_cast<uint32_t>(index), rows_.data(),
                                            static_cast<tmsize_t>(rows_.size())) >= 0);
    } else {
      const int64_t pixel = info_.bands * item_, across = (info_.width + kTile - 1) / kTile;
      std::vector<std::byte> tile(static_cast<size_t>(kTile * kTile * pixel));
      for (int64_t x = 0; x < across; ++x) {
        const int64_t columns = std::min(kTile, info_.width - x * kTile);
        if (columns < kTile || rows < kTile) std::fill(tile.begin(), tile.end(), std::byte{0});
        for (int64_t r = 0; r < rows; ++r) {
          std::memcpy(tile.data() + r * kTile * pixel, rows_.data() + r * row_bytes_ + x * kTile * pixel,
                      static_cast<size_t>(columns * pixel));
        }
        require_written(TIFFWriteEncodedTile(handle_->get(), static_cast<uint32_t>(index * across + x),
                                             tile.data(), static_cast<tmsize_t>(tile.size())) >= 0);
      }
    }
    written_ += rows;
    rows_.clear();
  }

  void require_written(bool done) {
    if (done) [[likely]]
      return;
    fail(ErrorKind::io, "cannot write {}: {}", path_.string(), handle_->reason());
  }

  std::filesystem::path path_;
  TiffInfo info_;
  int64_t item_ = 1, row_bytes_ = 0, block_rows_ = 0;
  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<TiffHandle> handle_;  // of the file's descriptor
  int64_t next_row_ = 0, written_ = 0;  // rows received, and rows passed to libtiff
  std::vector<std::byte> rows_;         // rows not yet passed on
};

TiffWriter::TiffWriter(const std::filesystem::path& path, const TiffInfo& wanted)
    : impl_(std::make_unique<Impl>(path, wanted)) {}
TiffWriter::~TiffWriter() = default;
TiffWriter::TiffWriter(TiffWriter&&) noexcept = default;
TiffWriter& TiffWriter::operator=(TiffWriter&&) noexcept = default;

void TiffWriter::write_rows(int64_t first_row, std::span<const uint8_t> rows) {
  impl_->write(first_row, std::as_bytes(rows), "u8");
}
void TiffWriter::write_rows(int64_t first_row, std::span<const uint16_t> rows) {
  impl_->write(first_row, std::as_bytes(rows), "u16");
}
void TiffWriter::write_rows(int64_t first_row, std::span<const int16_t> rows) {
  impl_->write(first_row, std::as_bytes(rows), "i16");
}
void TiffWriter::write_rows(int64_t first_row, std::span<const int32_t> rows) {
  impl_->write(first_row, std::as_bytes(rows), "i32");
}
void TiffWriter::write_rows(int64_t first_row, std::span<const float> rows) {
  impl_->write(first_row, std::as_bytes(rows), "f32");
}
void TiffWriter::close() {
  impl_->close();
}

}  // namespace modewise::io
