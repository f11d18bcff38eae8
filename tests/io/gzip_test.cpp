#include "modewise/io/gzip.h"

#include "tests/io/compress.h"
#include "tests/io/damage.h"

namespace modewise::io {
namespace {

void try_gzip(std::span<const std::byte> bytes) {
  gunzip(bytes, "file", 1 << 20);
}

TEST(Gzip, GivesTheContentBack) {
  for (const size_t size : {0, 1, 2, 63, 65, 65535, 65536, 65537, 1 << 20}) {
    std::string content(size, 'a');
    for (size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * i % 251);
    EXPECT_EQ(to_text(gunzip(to_bytes(gzip_of(content)), "file", 1 << 20)), content);
  }
}

TEST(Gzip, ReadsMembersOneAfterAnotherAndPadding) {
  const std::string both = gzip_of("one, ") + gzip_of("") + gzip_of("two");
  EXPECT_EQ(to_text(gunzip(to_bytes(both), "file", 8)), "one, two");
  EXPECT_EQ(to_text(gunzip(to_bytes(both + std::string(512, '\0')), "file", 8)), "one, two");
  const std::vector<std::byte> bytes = to_bytes(both);
  GzipReader reader(bytes, "file");
  std::string content;
  std::array<std::byte, 3> piece;
  while (const size_t got = reader.read(piece)) content += to_text(std::span(piece).first(got));
  EXPECT_EQ(content, "one, two");
}

TEST(Gzip, RefusesDamage) {
  const std::string valid = gzip_of("content of some length, content");
  const auto with = [&](size_t at, char value) {
    std::string text = valid;
    text[at] = value;
    return text;
  };
  expect_refused(
      try_gzip,
      {
          {"empty", "", "file: not a gzip file: it does not begin with 1f 8b"},
          {"text", "content", "file: not a gzip file: it does not begin with 1f 8b"},
          {"one byte", "\x1f", "file: not a gzip file: it does not begin with 1f 8b"},
          {"method 7", with(2, 7), "file: its compressed data is damaged near byte …"},
          {"reserved flags", with(3, '\xe0'), "file: its compressed data is damaged near byte …"},
          {"checksum", with(valid.size() - 5, static_cast<char>(valid[valid.size() - 5] ^ 1)),
           "…(31 bytes of content): incorrect data check"},
          {"length", with(valid.size() - 1, 1), "…(31 bytes of content): incorrect length check"},
          {"block type", with(10, 7), "file: its compressed data is damaged near byte …"},
          {"something after it", valid + "x",
           "file: unexpected bytes after " + std::to_string(valid.size()) + " bytes of compressed data"},
          {"half a member after it", valid + valid.substr(0, 15),
           "file: the compressed data is truncated: it ends within its content, after …"},
          {"a megabyte and a byte", gzip_of(std::string((1 << 20) + 1, 'x')),
           "…compressed bytes expand to more than the limit of 1048576 bytes"},
          {"a bomb", gzip_of(std::string(size_t{64} << 20, '\0')),
           "…compressed bytes expand to more than the limit of 1048576 bytes"},
      });
  expect_every_truncation_fails(try_gzip, valid);
  expect_flips_are_clean(try_gzip, valid);
}

}  // namespace
}  // namespace modewise::io
