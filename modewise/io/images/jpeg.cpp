#include "modewise/io/images/jpeg.h"

#include <algorithm>
#include <array>
#include <climits>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/images/exif.h"
#include "modewise/io/images/image_rows.h"
#include "modewise/io/images/jpeg_handle.h"

namespace modewise::io {
namespace {

constexpr std::array<int64_t, 4> kDivisors = {1, 2, 4, 8};
// Rows that libjpeg keeps: samples for upsampling, and coefficients of one row of blocks.
constexpr uint64_t kRowsHeld = 64;

uint32_t byte_at(std::span<const std::byte> bytes, size_t at) {
  return std::to_integer<uint32_t>(bytes[at]);
}

/// Orientation in the first APP1 segment with Exif data, which precedes the pixels.
int jpeg_orientation(std::span<const std::byte> bytes) {
  constexpr std::string_view name("Exif\0\0", 6);
  size_t at = 2;
  while (at + 4 <= bytes.size() && byte_at(bytes, at) == 0xFF) {
    const uint32_t marker = byte_at(bytes, at + 1);
    if (marker == 0xFF) {  // fill bytes
      ++at;
      continue;
    }
    if (marker == 0xDA || marker == 0xD9) return 1;  // pixels, or the end
    const size_t length = byte_at(bytes, at + 2) << 8 | byte_at(bytes, at + 3);
    if (length < 2 || length > bytes.size() - at - 2) return 1;
    const auto content = bytes.subspan(at + 4, length - 2);
    if (marker == 0xE1 && content.size() >= name.size() &&
        std::ranges::equal(content.first(name.size()), as_bytes(name)))
      return exif_orientation(content.subspan(name.size()));
    at += 2 + length;
  }
  return 1;
}

/// Inverted CMYK to RGB in place: each ink times black.
void inks_to_colors(std::vector<uint8_t>& row, int64_t width) {
  for (int64_t x = 0; x < width; ++x) {
    const uint8_t* inks = row.data() + 4 * x;
    const uint32_t black = inks[3];
    for (int64_t c = 0; c < 3; ++c)
      row[static_cast<size_t>(3 * x + c)] = static_cast<uint8_t>((inks[c] * black + 127) / 255);
  }
}

class JpegDecoder {
 public:
  JpegDecoder(std::span<const std::byte> bytes, const std::string& source)
      : source_(source), bytes_(bytes), handle_(bytes, kMaxJpegScans), orientation_(jpeg_orientation(bytes)) {
    run([&] { jpeg_read_header(handle_.get(), TRUE); });
    handle_.accept_end();
    const int components = handle_.get()->num_components;
    require(components == 1 || components == 3 || components == 4, ErrorKind::data,
            "{}: a JPEG image of {} components is not grey, RGB or CMYK", source_, components);
  }

  Image decode(const ImageReadOptions& options) {
    const int64_t reduction = choose_size(options);
    jpeg_decompress_struct* jpeg = handle_.get();
    const bool inks = jpeg->num_components == 4;
    jpeg->out_color_space = inks ? JCS_CMYK : jpeg->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    run([&] { jpeg_start_decompress(jpeg); });
    stored_ = {jpeg->output_height, jpeg->output_width, channels()};
    ImageRows rows(stored_, reduction, orientation_);
    std::vector<uint8_t> row(static_cast<size_t>(stored_.width * jpeg->output_components));
    for (row_ = 0; row_ < stored_.height; ++row_) {
      JSAMPROW line = row.data();
      run([&] { jpeg_read_scanlines(jpeg, &line, 1); });
      if (inks) inks_to_colors(row, stored_.width);
      rows.add(std::span(row).first(static_cast<size_t>(stored_.width * stored_.channels)));
    }
    require(!handle_.ended_early() || handle_.has_all_scans(), ErrorKind::data,
            "{}: cannot decode the JPEG image: the file ends before its last scan", source_);
    run([&] { jpeg_finish_decompress(jpeg); });
    if (handle_.ended_early() && options.remark != nullptr) *options.remark = "no end marker, but all pixels";
    return rows.take();
  }

 private:
  template <class Call>
  void run(const Call& call) {
    if (handle_.run(call)) return;
    if (row_ < 0) fail(ErrorKind::data, "{}: cannot decode the JPEG image: {}", source_, handle_.reason());
    fail(ErrorKind::data, "{}: cannot decode the JPEG image (row {} of {}): {}", source_, row_,
         stored_.height, handle_.reason());
  }

  int64_t channels() { return handle_.get()->num_components == 1 ? 1 : 3; }

  StoredSize divided(int64_t divisor) {
    const jpeg_decompress_struct& jpeg = *handle_.get();
    const auto up = [&](int64_t size) { return (size + divisor - 1) / divisor; };
    return {up(jpeg.image_height), up(jpeg.image_width), channels()};
  }

  /// Memory of the coefficients (two bytes each) of all blocks, for files of several scans.
  uint64_t coefficient_bytes() {
    const jpeg_decompress_struct& jpeg = *handle_.get();
    if (!jpeg_has_multiple_scans(handle_.get())) return 0;
    uint64_t blocks = 0;
    for (int i = 0; i < jpeg.num_components; ++i) {
      const jpeg_component_info& component = jpeg.comp_info[i];
      const auto padded = [](uint64_t count, int factor) {
        const auto by = static_cast<uint64_t>(factor);
        return (count + by - 1) / by * by;
      };
      blocks += padded(component.width_in_blocks, component.h_samp_factor) *
                padded(component.height_in_blocks, component.v_samp_factor);
    }
    return blocks * DCTSIZE2 * sizeof(JCOEF);
  }

  /// Sets the divisor of the scaled DCT; returns the factor by which rows are averaged down after it.
  int64_t choose_size(const ImageReadOptions& options) {
    jpeg_decompress_struct* jpeg = handle_.get();
    stored_ = divided(1);
    const auto components = static_cast<uint64_t>(jpeg->num_components);
    DecodingMemory memory{bytes_.size(), kRowsHeld * components * jpeg->image_width + coefficient_bytes(),
                          true, ""};
    if (jpeg_has_multiple_scans(jpeg)) memory.note = "the coefficients of all its scans are kept";
    if (!options.allow_size)
      jpeg->mem->max_memory_to_use =
          static_cast<long>(std::min<uint64_t>(decoding_limit(bytes_.size()), LONG_MAX));
    int64_t wanted = choose_reduction(stored_, memory, options, source_);
    if (wanted == 1) return 1;
    // The smallest DCT divisor that suffices alone, or the largest.
    size_t i = 1;
    while (i + 1 < kDivisors.size() && kDivisors[i] < wanted) ++i;
    jpeg->scale_num = 1;
    jpeg->scale_denom = static_cast<unsigned>(kDivisors[i]);
    return choose_reduction(divided(kDivisors[i]), memory, options, source_);
  }

  const std::string& source_;
  std::span<const std::byte> bytes_;
  JpegReader handle_;
  int orientation_;
  StoredSize stored_;
  int64_t row_ = -1;
};

}  // namespace

bool is_jpeg(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && byte_at(bytes, 0) == 0xFF && byte_at(bytes, 1) == 0xD8 &&
         byte_at(bytes, 2) == 0xFF;
}

Image parse_jpeg(std::span<const std::byte> bytes, const std::string& source,
                 const ImageReadOptions& options) {
  require(is_jpeg(bytes), ErrorKind::data,
          "{}: expected a JPEG image; the {} bytes do not begin with its signature", source, bytes.size());
  return JpegDecoder(bytes, source).decode(options);
}

std::string format_jpeg(const Image& image, int quality) {
  require_pixels(image, "format_jpeg");
  require(quality >= 1 && quality <= 100, ErrorKind::internal,
          "format_jpeg: quality must be 1 to 100, got {}", quality);
  JpegWriter writer;
  jpeg_compress_struct* jpeg = writer.get();
  const bool written = writer.run([&] {
    jpeg->image_height = static_cast<JDIMENSION>(image.height);
    jpeg->image_width = static_cast<JDIMENSION>(image.width);
    jpeg->input_components = static_cast<int>(image.channels);
    jpeg->in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, quality, TRUE);
    jpeg_start_compress(jpeg, TRUE);
    for (int64_t y = 0; y < image.height; ++y) {
      JSAMPROW row = const_cast<JSAMPROW>(image.pixels.data() + y * image.width * image.channels);
      jpeg_write_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_compress(jpeg);
  });
  require(written, ErrorKind::internal, "libjpeg could not write an image of {} x {}: {}", image.height,
          image.width, writer.reason());
  const std::span<const unsigned char> bytes = writer.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace modewise::io
