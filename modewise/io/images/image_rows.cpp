#include "modewise/io/images/image_rows.h"

#include <algorithm>
#include <cstring>

#include "modewise/core/error.h"
#include "modewise/core/memory.h"

namespace modewise::io {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// Fixed memory of libpng, libjpeg and zlib: tables, windows, pools.
constexpr uint64_t kDecoder = 2 * kMiB;
// Keeps the sums of a block within 32 bits.
constexpr int64_t kMaxReduction = 4096;

int64_t divided_up(int64_t size, int64_t by) {
  return (size + by - 1) / by;
}

/// Bytes of an image that is reduced by `reduction`.
double held_bytes(const StoredSize& stored, int64_t reduction) {
  const double row = static_cast<double>(divided_up(stored.width, reduction) * stored.channels);
  const double sums = reduction > 1 ? 5 * row : 0;
  return static_cast<double>(divided_up(stored.height, reduction)) * row + sums;
}

}  // namespace

uint64_t decoding_limit(uint64_t file_bytes) {
  return 2 * file_bytes + 64 * kMiB - kDecoder;
}

int64_t choose_reduction(const StoredSize& stored, const DecodingMemory& memory,
                         const ImageReadOptions& options, const std::string& source) {
  const auto limit = static_cast<double>(decoding_limit(memory.file_bytes)),
             beside = static_cast<double>(memory.beside);
  const double whole = held_bytes(stored, 1) + beside;
  if (whole <= limit) return 1;
  if (memory.scalable && options.height > 0 && options.width > 0) {
    for (int64_t reduction = 2; reduction <= kMaxReduction; ++reduction)
      if (held_bytes(stored, reduction) + beside <= limit) return reduction;
  }
  require(options.allow_size, ErrorKind::data,
          "{}: an image of {} x {} pixels (height x width) takes {} to decode, more than twice the file's {} "
          "bytes plus 64 MiB{}{}; {}",
          source, stored.height, stored.width, memory_text(whole), memory.file_bytes,
          *memory.note == '\0' ? "" : ": ", memory.note, options.remedy);
  const auto free = static_cast<double>(available_memory());
  require(whole <= free, ErrorKind::data,
          "{}: an image of {} x {} pixels (height x width) takes {} to decode, but {} are free", source,
          stored.height, stored.width, memory_text(whole), memory_text(free));
  return 1;
}

ImageRows::ImageRows(const StoredSize& stored, int64_t reduction, int orientation)
    : stored_(stored),
      reduction_(reduction),
      height_(divided_up(stored.height, reduction)),
      width_(divided_up(stored.width, reduction)) {
  // Orientations 5 to 8 swap the axes. 2, 3, 7 and 8 flip along the stored rows; 3, 4, 6 and 7 along the
  // stored columns.
  const bool exchanged = orientation >= 5;
  const bool rows_flipped = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool columns_flipped = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  image_.height = exchanged ? width_ : height_;
  image_.width = exchanged ? height_ : width_;
  image_.channels = stored.channels;
  image_.pixels.resize(static_cast<size_t>(height_ * width_ * stored.channels));
  down_ = exchanged ? 1 : image_.width;
  across_ = exchanged ? image_.width : 1;
  if (columns_flipped) first_ += (height_ - 1) * down_, down_ = -down_;
  if (rows_flipped) first_ += (width_ - 1) * across_, across_ = -across_;
  if (reduction > 1) {
    sums_.resize(static_cast<size_t>(width_ * stored.channels));
    means_.resize(sums_.size());
  }
}

void ImageRows::add(std::span<const uint8_t> row) {
  ++added_;
  if (reduction_ == 1)
    put(row.data());
  else
    add_sums(row);
}

void ImageRows::add_sums(std::span<const uint8_t> row) {
  const auto channels = static_cast<size_t>(stored_.channels);
  for (int64_t x = 0; x < stored_.width; ++x) {
    const uint8_t* from = row.data() + static_cast<size_t>(x) * channels;
    uint32_t* to = sums_.data() + static_cast<size_t>(x / reduction_) * channels;
    for (size_t c = 0; c < channels; ++c) to[c] += from[c];
  }
  if (added_ % reduction_ != 0 && added_ != stored_.height) return;
  const int64_t rows = (added_ - 1) % reduction_ + 1;
  for (int64_t x = 0; x < width_; ++x) {
    const auto pixels = static_cast<uint32_t>(rows * std::min(reduction_, stored_.width - x * reduction_));
    for (size_t c = 0; c < channels; ++c) {
      const size_t at = static_cast<size_t>(x) * channels + c;
      means_[at] = static_cast<uint8_t>((sums_[at] + pixels / 2) / pixels);
    }
  }
  put(means_.data());
  std::fill(sums_.begin(), sums_.end(), 0U);
}

void ImageRows::put(const uint8_t* row) {
  const auto channels = static_cast<size_t>(stored_.channels);
  uint8_t* to = image_.pixels.data() + (first_ + kept_ * down_) * stored_.channels;
  ++kept_;
  if (across_ == 1) {
    std::memcpy(to, row, static_cast<size_t>(width_) * channels);
    return;
  }
  for (int64_t x = 0; x < width_; ++x)
    std::memcpy(to + x * across_ * stored_.channels, row + static_cast<size_t>(x) * channels, channels);
}

}  // namespace modewise::io
