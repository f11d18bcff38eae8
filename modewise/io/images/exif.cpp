#include "modewise/io/images/exif.h"

#include <cstdint>

namespace modewise::io {
namespace {

constexpr uint32_t kOrientationTag = 274, kShortType = 3;
constexpr size_t kEntry = 12;

class Block {
 public:
  explicit Block(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool holds(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }
  bool begins_with(uint8_t value) const { return byte(0) == value && byte(1) == value; }
  void set_big_endian(bool big) { big_ = big; }
  uint32_t number(size_t offset, size_t size) const {
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | byte(offset + (big_ ? i : size - 1 - i));
    return value;
  }

 private:
  uint32_t byte(size_t at) const { return std::to_integer<uint32_t>(bytes_[at]); }

  std::span<const std::byte> bytes_;
  bool big_ = false;
};

}  // namespace

int exif_orientation(std::span<const std::byte> bytes) {
  Block block(bytes);
  if (!block.holds(0, 8) || (!block.begins_with('I') && !block.begins_with('M'))) return 1;
  block.set_big_endian(block.begins_with('M'));
  const uint64_t directory = block.number(4, 4);
  if (block.number(2, 2) != 42 || !block.holds(directory, 2)) return 1;
  const uint32_t entries = block.number(directory, 2);
  for (uint32_t i = 0; i < entries; ++i) {
    const uint64_t entry = directory + 2 + kEntry * i;
    if (!block.holds(entry, kEntry)) return 1;
    if (block.number(entry, 2) != kOrientationTag) continue;
    const uint32_t value = block.number(entry + 8, 2);
    const bool valid = block.number(entry + 2, 2) == kShortType && value >= 1 && value <= 8;
    return valid ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace modewise::io
