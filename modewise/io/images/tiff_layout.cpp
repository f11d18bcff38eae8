// Layout of a TIFF image, from its directory.

#include <algorithm>
#include <array>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/io/images/tiff_directory.h"

namespace modewise::io {
namespace {

constexpr uint16_t kWidth = 256, kHeight = 257, kBits = 258, kCompression = 259, kFillOrder = 266,
                   kBands = 277, kRowsPerStrip = 278, kPlanar = 284, kTileWidth = 322, kTileHeight = 323,
                   kSampleFormat = 339;
constexpr uint64_t kLargestSide = std::numeric_limits<int32_t>::max();

struct Compression {
  uint16_t code;
  std::string_view name;
  int64_t max_expansion;  // maximum decoded bytes per stored byte
};

// LZW: strings of at most 4096 bytes from 9 bits. Deflate: 258 bytes from 2 bits. PackBits: 128 bytes from
// two. Zstandard: blocks of 128 KiB from four bytes.
constexpr std::array<Compression, 6> kCompressions = {{{1, "none", 1},
                                                       {5, "lzw", 4096},
                                                       {8, "deflate", 1032},
                                                       {32946, "deflate", 1032},
                                                       {32773, "packbits", 64},
                                                       {50000, "zstd", 32768}}};

const Compression* find_compression(uint16_t code) {
  const auto found =
      std::find_if(kCompressions.begin(), kCompressions.end(), [&](const auto& c) { return c.code == code; });
  return found == kCompressions.end() ? nullptr : found;
}

// 2^63 − 1 where the product is larger.
int64_t product(std::initializer_list<int64_t> factors) {
  int64_t result = 1;
  for (const int64_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) return std::numeric_limits<int64_t>::max();
  }
  return result;
}

int64_t side(const TiffDirectory& directory, uint16_t tag) {
  const uint64_t value = directory.number(tag);
  require(value > 0 && value <= kLargestSide, ErrorKind::data, "{}: must be 1 to {} pixels, got {}",
          directory.place(tag), kLargestSide, value);
  return static_cast<int64_t>(value);
}

// The value that all bands share.
uint64_t same_in_all_bands(const TiffDirectory& directory, uint16_t tag, uint64_t otherwise) {
  const std::vector<uint64_t> values = directory.numbers(tag);
  if (values.empty()) return otherwise;
  for (const uint64_t value : values) {
    require(value == values[0], ErrorKind::data, "{}: all bands must have the same value, got {} and {}",
            directory.place(tag), values[0], value);
  }
  return values[0];
}

void read_samples(const TiffDirectory& directory, TiffLayout& layout, bool is_mask) {
  const uint64_t bands = directory.number(kBands, 1);
  require(bands > 0 && bands <= 65535, ErrorKind::data, "{}: must be 1 to 65535 bands, got {}",
          directory.place(kBands), bands);
  require(!is_mask || bands == 1, ErrorKind::data, "{}: a mask must have one band, got {}",
          directory.place(kBands), bands);
  layout.bands = static_cast<int64_t>(bands);
  const uint64_t bits = same_in_all_bands(directory, kBits, 1);
  const uint64_t format = same_in_all_bands(directory, kSampleFormat, 1);
  const bool integer = (format == 1 || format == 2) && (bits == 8 || bits == 16 || bits == 32 || bits == 64);
  const bool floating = format == 3 && (bits == 32 || bits == 64);
  const bool bit = is_mask && format == 1 && bits == 1;
  require(integer || floating || bit, ErrorKind::data,
          "{}: integers of 8, 16, 32 or 64 bits and floats of 32 or 64 bits are supported; the image has {} "
          "bits of sample format {}",
          directory.place(kBits), bits, format);
  layout.item_size = bit ? 1 : static_cast<int64_t>(bits / 8);
  layout.packed = bit ? 8 : 1;
  layout.width = (layout.width + layout.packed - 1) / layout.packed;
  layout.sample = static_cast<TiffSample>(format);
  const uint64_t planar = directory.number(kPlanar, 1), fill_order = directory.number(kFillOrder, 1);
  require(planar == 1 || planar == 2, ErrorKind::data, "{}: must be 1 (chunky) or 2 (planar), got {}",
          directory.place(kPlanar), planar);
  require(fill_order == 1, ErrorKind::data, "{}: must be 1 (highest bit first), got {}",
          directory.place(kFillOrder), fill_order);
  layout.planar = planar == 2;
}

void read_blocks(const TiffDirectory& directory, TiffLayout& layout) {
  layout.tiled = directory.find(kTileWidth) != nullptr || directory.find(kTileHeight) != nullptr;
  if (layout.tiled) {
    layout.block_width = side(directory, kTileWidth) / layout.packed;
    require(layout.block_width > 0, ErrorKind::data, "{}: a tile of 1-bit pixels must have a multiple of 16",
            directory.place(kTileWidth));
    layout.block_height = side(directory, kTileHeight);
  } else {
    const uint64_t rows = directory.number(kRowsPerStrip, kLargestSide);
    require(rows > 0, ErrorKind::data, "{}: a strip must hold at least one row, got 0",
            directory.place(kRowsPerStrip));
    layout.block_width = layout.width;
    layout.block_height = static_cast<int64_t>(std::min(rows, static_cast<uint64_t>(layout.height)));
  }
  layout.across = (layout.width + layout.block_width - 1) / layout.block_width;
  layout.down = (layout.height + layout.block_height - 1) / layout.block_height;
}

int64_t block_bytes(const TiffLayout& layout, int64_t rows) {
  return product({layout.block_width, layout.samples(), layout.item_size, rows});
}

// Large blocks are never in memory as a whole: uncompressed ones are read in parts, strips are decoded row by
// row. Compressed tiles can only be decoded as a whole.
void check_block_size(const TiffDirectory& directory, const TiffLayout& layout) {
  const bool by_parts = !layout.tiled || layout.compression == 1;
  const int64_t bytes = block_bytes(layout, by_parts ? 1 : layout.block_height);
  require(bytes <= kLargestTiffBlock, ErrorKind::data,
          "{}: {} of its {}s of {} x {} pixels and {} bands takes {} bytes, the limit is {}",
          directory.source(), by_parts ? "one row" : "one", layout.block_name(), layout.block_width,
          layout.block_height, layout.samples(), bytes, kLargestTiffBlock);
}

void check_block(const TiffDirectory& directory, const TiffLayout& layout, int64_t index, TiffBlock block) {
  const int64_t in_plane = index % (layout.across * layout.down), y = in_plane / layout.across;
  const auto where = [&] {
    return fmt::format("{}: {} {} (row {}, column {})", directory.source(), layout.block_name(), index,
                       y * layout.block_height, in_plane % layout.across * layout.block_width);
  };
  if (block.size == 0) {
    require(block.offset == 0, ErrorKind::data, "{} at byte {} takes 0 bytes", where(), block.offset);
    return;
  }
  const uint64_t end = directory.bytes().size();
  require(block.offset >= 8 && block.offset <= end && block.size <= end - block.offset, ErrorKind::data,
          "{} takes {} bytes from byte {}, which is not inside the file ({} bytes)", where(), block.size,
          block.offset, end);
  const int64_t needed = block_bytes(layout, layout.rows_of(y));
  const int64_t maximum =
      product({static_cast<int64_t>(block.size), find_compression(layout.compression)->max_expansion});
  require(maximum >= needed, ErrorKind::data,
          "{} has {} bytes, too few for the {} that the directory declares ({})", where(), block.size, needed,
          layout.compression_name());
}

// Checked in pieces, so that memory does not grow with the number of blocks.
void check_blocks(const TiffDirectory& directory, const TiffLayout& layout) {
  const TiffEntry& offsets = directory.at(layout.offsets_tag());
  const TiffEntry& sizes = directory.at(layout.sizes_tag());
  const int64_t count = product({layout.across, layout.down, layout.planar ? layout.bands : 1});
  for (const TiffEntry* entry : {&offsets, &sizes}) {
    require(entry->count >= static_cast<uint64_t>(count), ErrorKind::data,
            "{}: {} x {} pixels and {} bands make {} {}s, but there are {} values",
            directory.place(entry->tag), layout.width, layout.height, layout.bands, count,
            layout.block_name(), entry->count);
  }
  constexpr size_t kBlocks = 1024;
  std::array<uint64_t, kBlocks> begins, lengths;
  for (int64_t first = 0; first < count;) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlocks, count - first));
    directory.numbers(offsets, static_cast<uint64_t>(first), std::span(begins).first(n));
    directory.numbers(sizes, static_cast<uint64_t>(first), std::span(lengths).first(n));
    for (size_t i = 0; i < n; ++i) {
      check_block(directory, layout, first + static_cast<int64_t>(i), {begins[i], lengths[i]});
    }
    first += static_cast<int64_t>(n);
  }
}

TiffLayout read_layout(const TiffDirectory& directory, bool is_mask) {
  TiffLayout layout;
  layout.width = side(directory, kWidth);
  layout.height = side(directory, kHeight);
  read_samples(directory, layout, is_mask);
  const uint64_t compression = directory.number(kCompression, 1);
  require(compression <= 65535 && find_compression(static_cast<uint16_t>(compression)) != nullptr,
          ErrorKind::data,
          "{}: unsupported compression {}; none (1), LZW (5), deflate (8 and 32946), PackBits (32773) and "
          "Zstandard (50000) are supported",
          directory.place(kCompression), compression);
  layout.compression = static_cast<uint16_t>(compression);
  read_blocks(directory, layout);
  check_block_size(directory, layout);
  check_blocks(directory, layout);
  return layout;
}

}  // namespace

int64_t TiffLayout::rows_of(int64_t y) const {
  return tiled ? block_height : std::min(block_height, height - y * block_height);
}

std::string TiffLayout::dtype() const {
  static constexpr std::array<char, 4> kLetters = {'?', 'u', 'i', 'f'};
  return kLetters[static_cast<size_t>(sample)] + std::to_string(8 * item_size);
}

std::string_view TiffLayout::compression_name() const {
  return find_compression(compression)->name;
}

TiffLayout read_tiff_layout(const TiffDirectory& directory) {
  return read_layout(directory, false);
}

TiffLayout read_tiff_mask_layout(const TiffDirectory& directory) {
  return read_layout(directory, true);
}

TiffBlock find_tiff_block(const TiffDirectory& directory, const TiffLayout& layout, int64_t index) {
  TiffBlock block;
  directory.numbers(directory.at(layout.offsets_tag()), static_cast<uint64_t>(index), {&block.offset, 1});
  directory.numbers(directory.at(layout.sizes_tag()), static_cast<uint64_t>(index), {&block.size, 1});
  return block;
}

}  // namespace modewise::io
