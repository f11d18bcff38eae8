#include "modewise/io/images/exif.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace modewise::io {
namespace {

/// Builder of an Exif block, number by number, in the layout of TIFF 6.0.
class Block {
 public:
  explicit Block(bool big) : big_(big) { add(big ? 0x4D4D : 0x4949, 2).add(42, 2).add(8, 4); }
  Block& add(uint32_t value, size_t size) {
    for (size_t i = 0; i < size; ++i)
      bytes_.push_back(static_cast<std::byte>(value >> 8 * (big_ ? size - 1 - i : i)));
    return *this;
  }
  Block& entry(uint32_t tag, uint32_t type, uint32_t value) {
    return add(tag, 2).add(type, 2).add(1, 4).add(value, 2).add(0, 2);
  }
  int orientation() const { return exif_orientation(bytes_); }
  int of_first(size_t bytes) const { return exif_orientation(std::span(bytes_).first(bytes)); }
  size_t size() const { return bytes_.size(); }

 private:
  bool big_;
  std::vector<std::byte> bytes_;
};

constexpr uint32_t kWidthTag = 256, kTag = 274, kByte = 1, kShort = 3, kLong = 4;

TEST(Exif, TellsTheOrientationInBothByteOrders) {
  for (const bool big : {false, true})
    for (uint32_t value = 1; value <= 8; ++value)
      EXPECT_EQ(Block(big).add(2, 2).entry(kWidthTag, kLong, 7).entry(kTag, kShort, value).orientation(),
                static_cast<int>(value));
}

TEST(Exif, OtherTypesAndValuesTurnNothing) {
  for (const uint32_t type : {kByte, kLong, 2u, 5u})
    EXPECT_EQ(Block(false).add(1, 2).entry(kTag, type, 6).orientation(), 1) << type;
  for (const uint32_t value : {0u, 9u, 10u, 256u, 65535u})
    EXPECT_EQ(Block(false).add(1, 2).entry(kTag, kShort, value).orientation(), 1) << value;
  EXPECT_EQ(Block(false).add(2, 2).entry(kTag, kShort, 9).entry(kTag, kShort, 6).orientation(), 1)
      << "the first entry counts";
}

TEST(Exif, EveryTruncationTurnsNothing) {
  const Block block = Block(true).add(1, 2).entry(kTag, kShort, 6);
  ASSERT_EQ(block.orientation(), 6);
  for (size_t bytes = 0; bytes < block.size(); ++bytes) EXPECT_EQ(block.of_first(bytes), 1) << bytes;
}

TEST(Exif, NoDirectoryTurnsNothing) {
  EXPECT_EQ(Block(false).add(0, 2).entry(kTag, kShort, 6).orientation(), 1) << "no entries";
  EXPECT_EQ(Block(false).add(1, 2).entry(kWidthTag, kShort, 6).orientation(), 1) << "another tag";
}

}  // namespace
}  // namespace modewise::io
