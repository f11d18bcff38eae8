#include "modewise/io/images/png.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/images/exif.h"
#include "modewise/io/images/image_rows.h"
#include "modewise/io/images/png_handle.h"

namespace modewise::io {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";

uint32_t big_endian(std::span<const std::byte> bytes) {
  uint32_t value = 0;
  for (const std::byte byte : bytes.first(4)) value = value << 8 | std::to_integer<uint32_t>(byte);
  return value;
}

bool has_right_checksum(std::span<const std::byte> chunk, size_t length) {
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(chunk.data()) + 4, static_cast<uInt>(length + 4));
  return sum == big_endian(chunk.subspan(8 + length));
}

/// Orientation in the eXIf chunk, also after the pixels, where libpng would read it too late.
int png_orientation(std::span<const std::byte> bytes) {
  bytes = bytes.subspan(kSignature.size());
  while (bytes.size() >= 12) {
    const size_t length = big_endian(bytes);
    if (length > bytes.size() - 12) return 1;
    if (std::ranges::equal(bytes.subspan(4, 4), as_bytes("eXIf")) && has_right_checksum(bytes, length))
      return exif_orientation(bytes.subspan(8, length));
    bytes = bytes.subspan(12 + length);
  }
  return 1;
}

class PngDecoder {
 public:
  PngDecoder(std::span<const std::byte> bytes, const std::string& source)
      : source_(source), bytes_(bytes), handle_(bytes), orientation_(png_orientation(bytes)) {
    read_header();
  }

  Image decode(const ImageReadOptions& options) {
    png_structp png = handle_.png();
    const uint64_t image = static_cast<uint64_t>(stored_.height) * row_bytes_;
    DecodingMemory memory{bytes_.size(), 4 * raw_row_bytes_ + 2 * row_bytes_, true, ""};
    if (interlaced_) {
      memory.beside += orientation_ == 1 ? 0 : image;
      memory.scalable = false;
      memory.note = "interlaced images are decoded as a whole";
    }
    const int64_t reduction = choose_reduction(stored_, memory, options, source_);
    Image out = interlaced_ ? decode_passes() : decode_rows(reduction);
    run([&] { png_read_end(png, nullptr); });
    return out;
  }

  PngNumbers numbers(PngPalette palette) {
    png_structp png = handle_.png();
    png_infop info = handle_.info();
    const bool colors = palette == PngPalette::colors;
    const int type = png_get_color_type(png, info);
    PngNumbers out;
    out.height = stored_.height;
    out.width = stored_.width;
    out.channels = colors && type == PNG_COLOR_TYPE_PALETTE ? 3 : png_get_channels(png, info);
    const bool transparent = colors && png_get_valid(png, info, PNG_INFO_tRNS) != 0;
    if (transparent) ++out.channels;
    out.alpha = transparent || (type & PNG_COLOR_MASK_ALPHA) != 0;
    out.number_bytes = png_get_bit_depth(png, info) == 16 ? 2 : 1;
    row_bytes_ = static_cast<uint64_t>(out.width * out.channels * out.number_bytes);
    // In float64: the product may exceed 64 bits.
    const double needed = static_cast<double>(out.height) * static_cast<double>(row_bytes_) +
                          4 * static_cast<double>(raw_row_bytes_);
    require(needed <= static_cast<double>(decoding_limit(bytes_.size())), ErrorKind::data,
            "{}: a PNG of {} x {} pixels (height x width) takes {:.0f} bytes to decode, more than twice the "
            "file's {} bytes plus 64 MiB: convert it to GeoTIFF, which is read in parts",
            source_, out.height, out.width, needed, bytes_.size());
    const int passes = begin([&](png_structp) {
      if (colors)
        png_set_expand(png);
      else
        png_set_packing(png);
      if (std::endian::native == std::endian::little) png_set_swap(png);
    });
    out.bytes = read_passes(passes);
    run([&] { png_read_end(png, nullptr); });
    return out;
  }

 private:
  template <class Call>
  void run(const Call& call) {
    if (handle_.run(call)) return;
    if (row_ < 0) fail(ErrorKind::data, "{}: cannot decode the PNG image: {}", source_, handle_.reason());
    fail(ErrorKind::data, "{}: cannot decode the PNG image (row {} of {}): {}", source_, row_, stored_.height,
         handle_.reason());
  }

  void read_header() {
    png_structp png = handle_.png();
    png_infop info = handle_.info();
    run([&] {
      png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
      png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_WARN_DISCARD);
      // Only header, palette and pixels: metadata chunks may be long, and compressed.
      png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_read_info(png, info);
    });
    stored_.height = png_get_image_height(png, info);
    stored_.width = png_get_image_width(png, info);
    interlaced_ = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    raw_row_bytes_ = png_get_rowbytes(png, info);
    const bool colors = (png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR) != 0;
    stored_.channels = colors ? 3 : 1;
    row_bytes_ = static_cast<uint64_t>(stored_.width) * (colors ? 3 : 1);
  }

  /// Sets how rows are decoded and returns the number of passes. The memory limit has been checked by now:
  /// libpng allocates its rows here.
  template <class Transforms>
  int begin(const Transforms& set_transforms) {
    png_structp png = handle_.png();
    png_infop info = handle_.info();
    int passes = 1;
    run([&] {
      set_transforms(png);
      passes = png_set_interlace_handling(png);
      png_read_update_info(png, info);
    });
    const uint64_t bytes = png_get_rowbytes(png, info);
    require(bytes == row_bytes_, ErrorKind::internal, "{}: libpng gives rows of {} bytes instead of {}",
            source_, bytes, row_bytes_);
    return passes;
  }

  static void to_8_bits(png_structp png) {
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_strip_alpha(png);
  }

  /// All rows; each pass fills some pixels of some rows.
  std::vector<uint8_t> read_passes(int passes) {
    std::vector<uint8_t> rows(static_cast<uint64_t>(stored_.height) * row_bytes_);
    for (int pass = 0; pass < passes; ++pass)
      for (row_ = 0; row_ < stored_.height; ++row_)
        run([&] {
          png_read_row(handle_.png(), rows.data() + static_cast<uint64_t>(row_) * row_bytes_, nullptr);
        });
    return rows;
  }

  Image decode_rows(int64_t reduction) {
    begin(to_8_bits);
    png_structp png = handle_.png();
    ImageRows rows(stored_, reduction, orientation_);
    std::vector<uint8_t> row(row_bytes_);
    for (row_ = 0; row_ < stored_.height; ++row_) {
      run([&] { png_read_row(png, row.data(), nullptr); });
      rows.add(row);
    }
    return rows.take();
  }

  Image decode_passes() {
    const int passes = begin(to_8_bits);
    Image whole{stored_.height, stored_.width, stored_.channels, read_passes(passes)};
    if (orientation_ == 1) return whole;
    ImageRows rows(stored_, 1, orientation_);
    for (int64_t y = 0; y < stored_.height; ++y)
      rows.add(std::span(whole.pixels).subspan(static_cast<uint64_t>(y) * row_bytes_, row_bytes_));
    return rows.take();
  }

  const std::string& source_;
  std::span<const std::byte> bytes_;
  PngHandle handle_;
  int orientation_;
  StoredSize stored_;
  bool interlaced_ = false;
  uint64_t raw_row_bytes_ = 0, row_bytes_ = 0;  // of a row in the file, and of a decoded row
  int64_t row_ = -1;
};

/// The rows, each behind the mark of "no filter", as one stream of zlib. libpng itself would take smaller
/// windows for small images: other bytes than those of reports that are recorded.
std::string deflated_rows(const Image& image) {
  const auto row_bytes = static_cast<size_t>(image.width * image.channels);
  std::string rows;
  rows.reserve(static_cast<size_t>(image.height) * (row_bytes + 1));
  for (int64_t y = 0; y < image.height; ++y) {
    rows.push_back(PNG_FILTER_VALUE_NONE);
    rows.append(reinterpret_cast<const char*>(image.pixels.data()) + static_cast<size_t>(y) * row_bytes,
                row_bytes);
  }
  uLongf size = compressBound(rows.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(rows.data()), rows.size(), Z_BEST_COMPRESSION);
  require(status == Z_OK, ErrorKind::internal, "zlib could not compress {} bytes (status {})", rows.size(),
          status);
  out.resize(size);
  return out;
}

std::string written(const Image& image, int color_type, std::span<const png_color> palette,
                    std::span<const png_byte> alpha) {
  const std::string pixels = deflated_rows(image);
  std::string out;
  PngHandle handle(out);
  png_structp png = handle.png();
  png_infop info = handle.info();
  const bool complete = handle.run([&] {
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, info, static_cast<uint32_t>(image.width), static_cast<uint32_t>(image.height), 8,
                 color_type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (!palette.empty()) png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
    if (!alpha.empty()) png_set_tRNS(png, info, alpha.data(), static_cast<int>(alpha.size()), nullptr);
    png_write_info(png, info);
    png_write_chunk(png, reinterpret_cast<png_const_bytep>("IDAT"),
                    reinterpret_cast<png_const_bytep>(pixels.data()), pixels.size());
    png_write_chunk(png, reinterpret_cast<png_const_bytep>("IEND"), nullptr, 0);
  });
  require(complete, ErrorKind::internal, "libpng could not write an image of {} x {}: {}", image.height,
          image.width, handle.reason());
  return out;
}

void require_png(std::span<const std::byte> bytes, const std::string& source) {
  require(is_png(bytes), ErrorKind::data,
          "{}: expected a PNG image; the {} bytes do not begin with its signature", source, bytes.size());
}

}  // namespace

bool is_png(std::span<const std::byte> bytes) {
  return bytes.size() >= kSignature.size() &&
         std::ranges::equal(bytes.first(kSignature.size()), as_bytes(kSignature));
}

Image parse_png(std::span<const std::byte> bytes, const std::string& source,
                const ImageReadOptions& options) {
  require_png(bytes, source);
  return PngDecoder(bytes, source).decode(options);
}

PngNumbers parse_png_numbers(std::span<const std::byte> bytes, const std::string& source,
                             PngPalette palette) {
  require_png(bytes, source);
  return PngDecoder(bytes, source).numbers(palette);
}

std::string format_png(const Image& image) {
  require_pixels(image, "format_png");
  return written(image, image.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, {}, {});
}

std::string format_palette_png(const Image& indices, std::span<const uint8_t> palette, int transparent) {
  require_pixels(indices, "format_palette_png");
  require(indices.channels == 1, ErrorKind::internal, "format_palette_png: {} channels are not indices",
          indices.channels);
  const size_t count = palette.size() / 3;
  require(count >= 1 && count <= PNG_MAX_PALETTE_LENGTH && palette.size() % 3 == 0, ErrorKind::internal,
          "format_palette_png: {} bytes are not a palette", palette.size());
  require(std::ranges::max(indices.pixels) < count, ErrorKind::internal,
          "format_palette_png: index {} is beyond the palette of {} colours",
          std::ranges::max(indices.pixels), count);
  require(transparent >= -1 && transparent < static_cast<int>(count), ErrorKind::internal,
          "format_palette_png: the transparent colour {} is not in the palette of {} colours", transparent,
          count);
  std::vector<png_color> colors;
  for (size_t i = 0; i < count; ++i)
    colors.push_back({palette[3 * i], palette[3 * i + 1], palette[3 * i + 2]});
  std::vector<png_byte> alpha(static_cast<size_t>(transparent + 1), 255);
  if (!alpha.empty()) alpha.back() = 0;
  return written(indices, PNG_COLOR_TYPE_PALETTE, colors, alpha);
}

}  // namespace modewise::io
