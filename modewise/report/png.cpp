#include "modewise/report/png.h"

#include <zlib.h>

#include <vector>

#include "modewise/core/error.h"

namespace modewise::report {
namespace {

void append_big_endian(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

void append_chunk(std::string& out, std::string_view type, std::string_view content) {
  append_big_endian(out, static_cast<uint32_t>(content.size()));
  const std::string body = std::string(type) + std::string(content);
  out += body;
  append_big_endian(out, static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                                     static_cast<uInt>(body.size()))));
}

void append_color(std::string& out, Color color) {
  out.push_back(static_cast<char>(color.red));
  out.push_back(static_cast<char>(color.green));
  out.push_back(static_cast<char>(color.blue));
}

/// 8 bits per sample, deflate, standard filter method, not interlaced. `color_type`: 3 palette, 2 RGB.
void append_header(std::string& out, int64_t width, int64_t height, char color_type) {
  std::string header;
  append_big_endian(header, static_cast<uint32_t>(width));
  append_big_endian(header, static_cast<uint32_t>(height));
  header += {8, color_type, 0, 0, 0};
  append_chunk(out, "IHDR", header);
}

void require_pixels(int64_t width, int64_t height, size_t pixels) {
  require(width > 0 && height > 0 && static_cast<int64_t>(pixels) == width * height, ErrorKind::internal,
          "an image of {} x {} does not match {} pixels", width, height, pixels);
}

std::string deflate_bytes(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 9);
  require(status == Z_OK, ErrorKind::internal, "zlib could not compress {} bytes (status {})", bytes.size(),
          status);
  out.resize(size);
  return out;
}

}  // namespace

std::string palette_png(int64_t width, int64_t height, std::span<const uint8_t> indices,
                        std::span<const Color> palette, int transparent) {
  require_pixels(width, height, indices.size());
  std::string colors, alpha;
  for (const Color color : palette) append_color(colors, color);
  std::string out = "\x89PNG\r\n\x1a\n";
  append_header(out, width, height, 3);
  append_chunk(out, "PLTE", colors);
  if (transparent >= 0) {
    alpha.assign(static_cast<size_t>(transparent) + 1, '\xff');
    alpha.back() = '\0';
    append_chunk(out, "tRNS", alpha);
  }
  std::string rows;
  for (int64_t y = 0; y < height; ++y) {
    rows.push_back('\0');  // filter "none"
    rows.append(reinterpret_cast<const char*>(indices.data()) + y * width, static_cast<size_t>(width));
  }
  append_chunk(out, "IDAT", deflate_bytes(rows));
  append_chunk(out, "IEND", "");
  return out;
}

std::string color_png(int64_t width, int64_t height, std::span<const Color> pixels) {
  require_pixels(width, height, pixels.size());
  std::string out = "\x89PNG\r\n\x1a\n";
  append_header(out, width, height, 2);
  std::string rows;
  rows.reserve(static_cast<size_t>(height * (3 * width + 1)));
  for (int64_t y = 0; y < height; ++y) {
    rows.push_back('\0');  // filter "none"
    for (const Color color : pixels.subspan(static_cast<size_t>(y * width), static_cast<size_t>(width)))
      append_color(rows, color);
  }
  append_chunk(out, "IDAT", deflate_bytes(rows));
  append_chunk(out, "IEND", "");
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t j = 0; j < 3; ++j)
      word = (word << 8) | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    const size_t kept = std::min<size_t>(3, bytes.size() - i) + 1;
    for (size_t j = 0; j < 4; ++j) out.push_back(j < kept ? alphabet[(word >> (18 - 6 * j)) & 63] : '=');
  }
  return out;
}

}  // namespace modewise::report
