#include "modewise/io/images/tiff.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/io/damage.h"
#include "tests/io/images/tiff_builder.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

// Reads the whole image, or windows at its corners if it is large.
void try_tiff(std::span<const std::byte> bytes) {
  const TiffReader reader(bytes, "file");
  const TiffInfo& info = reader.info();
  const int64_t side = info.bands > 100 ? 8 : 128;
  const int64_t height = std::min(side, info.height), width = std::min(side, info.width);
  for (const int64_t row : {int64_t{0}, info.height - height}) {
    for (const int64_t column : {int64_t{0}, info.width - width}) reader.read(row, column, height, width);
  }
}

std::string bytes_of(size_t count) {
  return std::string(count, '\x55');
}

TEST(Tiff, RefusesMalformedHeadersAndDirectories) {
  const TiffBuilder small = TiffBuilder::small();
  const std::string valid = small.text();
  TiffBuilder big = small, twice = small, overlapping = small;
  big.big = true;
  twice.twice = true;
  for (uint16_t tag = 40000; tag < 40400; ++tag) overlapping.tags[tag] = {1, {1, 2, 3, 4, 5, 6, 7}, 400, 8};
  ASSERT_EQ(message_of(try_tiff, big.text()), "");
  const auto patched = [&](std::string text, size_t at, const std::string& value) {
    return text.replace(at, value.size(), value);
  };
  const std::vector<Corruption> corruptions = {
      {"empty", "", "file: the file is empty, a TIFF image was expected"},
      {"text", "column,column\n1,2\n", "file: not a TIFF image: it begins with none of TIFF's signatures"},
      {"one byte", "I", "file: not a TIFF image: it begins with none of TIFF's signatures"},
      {"mixed order", patched(valid, 1, "M"),
       "file: not a TIFF image: it begins with none of TIFF's signatures"},
      {"big endian mark", patched(valid, 0, "MM"),
       "file: not a TIFF image: it begins with none of TIFF's signatures"},
      {"version 44", patched(valid, 2, "\x2c"),
       "file: not a TIFF image: it begins with none of TIFF's signatures"},
      {"no directory", patched(valid, 4, std::string(4, '\0')),
       "file: the file holds no image: its first directory is at byte 0"},
      {"directory beyond the end", patched(valid, 4, "\xff\xff\xff\x7f"),
       "file: a directory at byte 2147483647 (2 bytes) lies beyond the end of the file (136 bytes)"},
      {"directory at the end",
       patched(valid, 4, std::string(1, static_cast<char>(valid.size())) + std::string(3, '\0')),
       "file: a directory at byte 136 (2 bytes) lies beyond the end of the file (136 bytes)"},
      {"BigTIFF with offsets of 4 bytes", patched(big.text(), 4, "\x04"),
       "file: the header of BigTIFF must declare offsets of 8 bytes"},
      {"BigTIFF directory beyond the end", patched(big.text(), 8, "\xff\xff\xff\xff\xff\xff\xff\x7f"),
       "file: a directory at byte 9223372036854775807 (8 bytes) lies beyond the end of the file (218 bytes)"},
      {"no entries", patched(valid, 22, std::string(2, '\0')),
       "file: the directory at byte 22 declares 0 entries, expected 1 to 65535"},
      {"65535 entries", patched(valid, 22, "\xff\xff"),
       "file: the directory at byte 22 declares 65535 entries, which end beyond the file (136 bytes)"},
      {"2^40 entries in BigTIFF", patched(big.text(), 22, std::string(5, '\0') + "\x01"),
       "file: the directory at byte 22 declares 1099511627776 entries, expected 1 to 65535"},
      {"a tag twice", twice.text(), "file: directory at byte 22, tag 279 (StripByteCounts): duplicate tag"},
      {"values beyond the end", small.with({{270, {2, {}, 100, 1000}}}).text(),
       "file: directory at byte 22, tag 270: its 100 values at byte 1000 lie beyond the end of the file (148 "
       "bytes)"},
      {"2^32 values", small.with({{270, {2, {}, 0xffffffff, 16}}}).text(),
       "file: directory at byte 22, tag 270: its 4294967295 values at byte 16 lie beyond the end of the file "
       "(148 bytes)"},
      {"values that wrap", small.with({{33550, {12, {}, 0x20000001, 16}}}).text(),
       "file: directory at byte 22, tag 33550 (ModelPixelScale): its 536870913 values at byte 16 lie beyond "
       "the end of the file (148 bytes)"},
      {"tags over each other", overlapping.text(),
       "file: directory at byte 22, tag 40176: the values of the directory's tags overlap and take more than "
       "the whole file (4936 bytes)"},
  };
  expect_refused(try_tiff, corruptions);
}

TEST(Tiff, RefusesLyingLayouts) {
  const TiffBuilder small = TiffBuilder::small();
  TiffBuilder tiled = small.without(273).without(278).without(279);
  tiled.data = bytes_of(256);
  tiled = tiled.with({{322, {3, {16}}}, {323, {3, {16}}}, {324, {4, {16}}}, {325, {4, {256}}}});
  ASSERT_EQ(message_of(try_tiff, tiled.text()), "");
  const TiffTag two16{4, {16, 16}}, million{4, {1000000}}, largest{4, {0xffffffff}};
  TiffBuilder wide = small;
  wide.data = bytes_of(65535);
  wide = wide.with({{256, {3, {1}}}, {257, {3, {1}}}, {277, {3, {65535}}}, {279, {4, {65535}}}});
  ASSERT_EQ(message_of(try_tiff, wide.text()), "");  // a complete pixel of 65,535 bands
  const std::vector<Corruption> corruptions = {
      {"no width", small.without(256).text(), "file: directory at byte 22, tag 256 (ImageWidth): the tag is missing"},
      {"no height", small.without(257).text(), "file: directory at byte 22, tag 257 (ImageLength): the tag is missing"},
      {"width 0", small.with({{256, {3, {0}}}}).text(), "file: directory at byte 22, tag 256 (ImageWidth): must be 1 to 2147483647 pixels, got 0"},
      {"height 0", small.with({{257, {4, {0}}}}).text(), "file: directory at byte 22, tag 257 (ImageLength): must be 1 to 2147483647 pixels, got 0"},
      {"width 2^32 - 1", small.with({{256, largest}}).text(), "file: directory at byte 22, tag 256 (ImageWidth): must be 1 to 2147483647 pixels, got 4294967295"},
      {"width as text", small.with({{256, text_tag("3")}}).text(), "file: directory at byte 22, tag 256 (ImageWidth): expected one value, got 2"},
      {"width as a letter", small.with({{256, {2, {'3'}}}}).text(), "file: directory at byte 22, tag 256 (ImageWidth): expected integers, got values of type 2"},
      {"two widths", small.with({{256, {3, {3, 3}}}}).text(), "file: directory at byte 22, tag 256 (ImageWidth): expected one value, got 2"},
      {"one pixel more", small.with({{257, {3, {3}}}, {278, {3, {3}}}}).text(), "file: strip 0 (row 0, column 0) has 6 bytes, too few for the 9 that the directory declares (none)"},
      {"a strip more", small.with({{257, {3, {3}}}}).text(), "file: directory at byte 22, tag 273 (StripOffsets): 3 x 3 pixels and 1 bands make 2 strips, but there are 1 values"},
      {"10^6 x 10^6 in one strip", small.with({{256, million}, {257, million}, {278, million}}).text(),
       "file: strip 0 (row 0, column 0) has 6 bytes, too few for the 1000000000000 that the directory declares (none)"},
      {"10^6 x 10^6 in strips", small.with({{256, million}, {257, million}}).text(), "file: directory at byte 22, tag 273 (StripOffsets): 1000000 x 1000000 pixels and 1 bands make 500000 strips, but there are 1 values"},
      {"10^6 x 10^6 in tiles", tiled.with({{256, million}, {257, million}}).text(), "file: directory at byte 272, tag 324 (TileOffsets): 1000000 x 1000000 pixels and 1 bands make 3906250000 tiles, but there are 1 values"},
      {"2^31 x 2^31 in tiles, 65,535 planes",
       tiled.with({{256, {4, {0x7fffffff}}}, {257, {4, {0x7fffffff}}}, {277, {3, {65535}}}, {284, {3, {2}}}}).text(),
       "file: directory at byte 272, tag 324 (TileOffsets): 2147483647 x 2147483647 pixels and 65535 bands make 9223372036854775807 tiles, but there are 1 values"},
      {"no bands", small.with({{277, {3, {0}}}}).text(), "file: directory at byte 22, tag 277 (SamplesPerPixel): must be 1 to 65535 bands, got 0"},
      {"65,535 bands", small.with({{277, {3, {65535}}}}).text(), "file: strip 0 (row 0, column 0) has 6 bytes, too few for the 393210 that the directory declares (none)"},
      {"65,535 planes", small.with({{277, {3, {65535}}}, {284, {3, {2}}}}).text(), "file: directory at byte 22, tag 273 (StripOffsets): 3 x 2 pixels and 65535 bands make 65535 strips, but there are 1 values"},
      {"65,536 bands", small.with({{277, {4, {65536}}}}).text(), "file: directory at byte 22, tag 277 (SamplesPerPixel): must be 1 to 65535 bands, got 65536"},
      {"1 bit", small.with({{258, {3, {1}}}}).text(), "file: directory at byte 22, tag 258 (BitsPerSample): integers of 8, 16, 32 or 64 bits and floats of 32 or 64 bits are supported; the image has 1 bits of sample format 1"},
      {"no bits", small.without(258).text(), "file: directory at byte 22, tag 258 (BitsPerSample): integers of 8, 16, 32 or 64 bits and floats of 32 or 64 bits are supported; the image has 1 bits of sample format 1"},
      {"12 bits", small.with({{258, {3, {12}}}}).text(), "file: directory at byte 22, tag 258 (BitsPerSample): integers of 8, 16, 32 or 64 bits and floats of 32 or 64 bits are supported; the image has 12 bits of sample format 1"},
      {"0 bits", small.with({{258, {3, {0}}}}).text(), "file: directory at byte 22, tag 258 (BitsPerSample): integers of 8, 16, 32 or 64 bits and floats of 32 or 64 bits are supported; the image has 0 bits of sample format 1"},
      {"half precision", small.with({{258, {3, {16}}}, {339, {3, {3}}}}).text(), "file: directory at byte 22, tag 258 (BitsPerSample): integers of 8, 16, 32 or 64 bits and floats of 32 or 64 bits are supported; the image has 16 bits of sample format 3"},
      {"complex", small.with({{258, {3, {64}}}, {339, {3, {6}}}}).text(), "file: directory at byte 22, tag 258 (BitsPerSample): integers of 8, 16, 32 or 64 bits and floats of 32 or 64 bits are supported; the image has 64 bits of sample format 6"},
      {"sample format 0", small.with({{339, {3, {0}}}}).text(), "file: directory at byte 22, tag 258 (BitsPerSample): integers of 8, 16, 32 or 64 bits and floats of 32 or 64 bits are supported; the image has 8 bits of sample format 0"},
      {"bands of two sizes", small.with({{277, {3, {2}}}, {258, {3, {8, 16}}}}).text(), "file: directory at byte 22, tag 258 (BitsPerSample): all bands must have the same value, got 8 and 16"},
      {"planar 3", small.with({{284, {3, {3}}}}).text(), "file: directory at byte 22, tag 284 (PlanarConfiguration): must be 1 (chunky) or 2 (planar), got 3"},
      {"fill order 2", small.with({{266, {3, {2}}}}).text(), "file: directory at byte 22, tag 266 (FillOrder): must be 1 (highest bit first), got 2"},
      {"strips of 0 rows", small.with({{278, {3, {0}}}}).text(), "file: directory at byte 22, tag 278 (RowsPerStrip): a strip must hold at least one row, got 0"},
      {"tile width 0", tiled.with({{322, {3, {0}}}}).text(), "file: directory at byte 272, tag 322 (TileWidth): must be 1 to 2147483647 pixels, got 0"},
      {"tile height missing", tiled.without(323).text(), "file: directory at byte 272, tag 323 (TileLength): the tag is missing"},
      {"tiles of 2^31 x 2^31", tiled.with({{322, {4, {0x7fffffff}}}, {323, {4, {0x7fffffff}}}}).text(), "file: one row of its tiles of 2147483647 x 2147483647 pixels and 1 bands takes 2147483647 bytes, the limit is 67108864"},
      {"compressed tiles of 32768 x 32768", tiled.with({{259, {3, {8}}}, {322, {3, {32768}}}, {323, {3, {32768}}}}).text(),
       "file: one of its tiles of 32768 x 32768 pixels and 1 bands takes 1073741824 bytes, the limit is 67108864"},
      {"a row of 16 GB", small.with({{256, {4, {0x7fffffff}}}, {258, {3, {64}}}}).text(), "file: one row of its strips of 2147483647 x 2 pixels and 1 bands takes 17179869176 bytes, the limit is 67108864"},
      {"JPEG", small.with({{259, {3, {7}}}}).text(), "file: directory at byte 22, tag 259 (Compression): unsupported compression 7; none (1), LZW (5), deflate (8 and 32946), PackBits (32773) and Zstandard (50000) are supported"},
      {"an unknown compression", small.with({{259, {3, {99}}}}).text(), "file: directory at byte 22, tag 259 (Compression): unsupported compression 99; none (1), LZW (5), deflate (8 and 32946), PackBits (32773) and Zstandard (50000) are supported"},
      {"compression 65541", small.with({{259, {4, {65541}}}}).text(), "file: directory at byte 22, tag 259 (Compression): unsupported compression 65541; none (1), LZW (5), deflate (8 and 32946), PackBits (32773) and Zstandard (50000) are supported"},
      {"no offsets", small.without(273).text(), "file: directory at byte 22, tag 273 (StripOffsets): the tag is missing"},
      {"no sizes", small.without(279).text(), "file: directory at byte 22, tag 279 (StripByteCounts): the tag is missing"},
      {"no tile offsets", tiled.without(324).text(), "file: directory at byte 272, tag 324 (TileOffsets): the tag is missing"},
      {"offset past the end", small.with({{273, {4, {100000}}}}).text(),
       "file: strip 0 (row 0, column 0) takes 6 bytes from byte 100000, which is not inside the file (136 bytes)"},
      {"tile offset past the end", tiled.with({{324, {4, {0x7fffffff}}}}).text(),
       "file: tile 0 (row 0, column 0) takes 256 bytes from byte 2147483647, which is not inside the file (398 bytes)"},
      {"tile offset that wraps", [&] {
         TiffBuilder file = tiled.with({{324, {16, {UINT64_MAX - 10}}}});
         file.big = true;
         return file.text();
       }(), "file: tile 0 (row 0, column 0) takes 256 bytes from byte 18446744073709551605, which is not inside the file (488 bytes)"},
      {"a block over the header", small.with({{273, {4, {2}}}}).text(), "file: strip 0 (row 0, column 0) takes 6 bytes from byte 2, which is not inside the file (136 bytes)"},
      {"a size past the end", small.with({{279, {4, {100000}}}}).text(), "file: strip 0 (row 0, column 0) takes 100000 bytes from byte 16, which is not inside the file (136 bytes)"},
      {"an offset without a size", small.with({{279, {4, {0}}}}).text(), "file: strip 0 (row 0, column 0) at byte 16 takes 0 bytes"},
      {"stored bytes too few", small.with({{279, {4, {5}}}}).text(), "file: strip 0 (row 0, column 0) has 5 bytes, too few for the 6 that the directory declares (none)"},
      {"a bomb", tiled.with({{259, {3, {8}}}, {322, {3, {4096}}}, {323, {3, {4096}}}}).text(), "file: tile 0 (row 0, column 0) has 256 bytes, too few for the 16777216 that the directory declares (deflate)"},
  };
  EXPECT_GE(corruptions.size(), 45u);
  expect_refused(try_tiff, corruptions);
}

TEST(Tiff, RefusesDamagedTagsAndData) {
  const TiffBuilder small = TiffBuilder::small();
  const auto compressed = [&](uint64_t method, const std::string& data) {
    TiffBuilder file = small.with({{259, {3, {method}}}, {279, {4, {data.size()}}}});
    file.data = data;
    return file;
  };
  const std::string deflated("\x78\xda\x63\x64\x62\x66\x61\x65\x03\x00\x00\x3e\x00\x16", 14);  // 1 2 3 4 5 6
  ASSERT_EQ(message_of(try_tiff, compressed(8, deflated).text()), "");
  const std::vector<Corruption> corruptions = {
      {"nodata as a word", small.with({{42113, text_tag("none")}}).text(),
       "file: directory at byte 28, tag 42113 (GDAL_NODATA): expected a number, got 'none'"},
      {"nodata without text", small.with({{42113, text_tag("")}}).text(),
       "file: directory at byte 22, tag 42113 (GDAL_NODATA): expected a number, got ''"},
      {"nodata as a number", small.with({{42113, {3, {1}}}}).text(),
       "file: directory at byte 22, tag 42113 (GDAL_NODATA): expected text, got values of type 3"},
      {"nodata with more", small.with({{42113, text_tag("1 2")}}).text(),
       "file: directory at byte 22, tag 42113 (GDAL_NODATA): expected a number, got '1 2'"},
      {"geographic keys as text", small.with({{34735, text_tag("EPSG")}}).text(),
       "file: directory at byte 28, tag 34735 (GeoKeyDirectory): expected integers, got values of type 2"},
      {"wide geographic keys", small.with({{34735, {4, {1, 1, 0, 70000}}}}).text(),
       "file: directory at byte 38, tag 34735 (GeoKeyDirectory): expected 16-bit numbers, got 70000"},
      {"too many keys declared", small.with({{34735, {3, {1, 1, 0, 2, 3072, 0, 1, 32633}}}}).text(),
       "file: directory at byte 38, tag 34735 (GeoKeyDirectory): 8 values are too few for the 2 declared "
       "keys"},
      {"keys cut short", small.with({{34735, {3, {1, 1}}}}).text(),
       "file: directory at byte 22, tag 34735 (GeoKeyDirectory): 2 values are too few for the 0 declared "
       "keys"},
      {"pixel scale as whole numbers", small.with({{33550, {4, {1, 1, 0}}}}).text(),
       "file: directory at byte 34, tag 33550 (ModelPixelScale): expected doubles, got values of type 4"},
      {"a short palette", small.with({{320, {3, std::vector<uint64_t>(6, 1)}}}).text(),
       "file: directory at byte 34, tag 320 (ColorMap): expected 3 x 256 values, got 6"},
      {"deflate: no stream", compressed(8, "abcdefgh").text(),
       "file: strip 0 (row 0; 8 bytes from byte 16) cannot be decoded: …"},
      {"deflate: truncated", compressed(8, deflated.substr(0, 6)).text(),
       "file: strip 0 (row 0; 6 bytes from byte 16) cannot be decoded: …"},
      {"deflate: one pixel less", compressed(8, deflated).with({{257, {3, {3}}}, {278, {3, {3}}}}).text(),
       "file: strip 0 (row 0; 14 bytes from byte 16) cannot be decoded: …"},
      {"LZW: no stream", compressed(5, std::string(9, '\xff')).text(),
       "file: strip 0 (row 0; 9 bytes from byte 16) cannot be decoded: …"},
      {"LZW: truncated", compressed(5, std::string("\x80\x00", 2)).text(),
       "file: strip 0 (row 0; 2 bytes from byte 16) cannot be decoded: …"},
      {"PackBits: truncated", compressed(32773, "\x05\x01\x02").text(),
       "file: strip 0 (row 0; 3 bytes from byte 16) cannot be decoded: …"},
      {"predictor 9", compressed(8, deflated).with({{317, {3, {9}}}}).text(),
       "file: strip 0 (row 0; 14 bytes from byte 16) cannot be decoded: …"},
      {"a predictor for floats", compressed(8, deflated).with({{317, {3, {3}}}}).text(),
       "file: strip 0 (row 0; 14 bytes from byte 16) cannot be decoded: …"},
  };
  expect_refused(try_tiff, corruptions);
}

TEST(Tiff, SurvivesTruncationsAndFlips) {
  expect_every_truncation_fails(try_tiff, TiffBuilder::small().text());
  const auto vectors = load_vectors("images.json");
  for (const auto& test : vectors["tiff"]) {
    const std::string file = to_text(from_hex(test["file"]));
    expect_flips_are_clean(try_tiff, file);
    // GDAL and tifffile may pad what they write.
    for (size_t length = 0; length < file.size(); ++length) message_of(try_tiff, file.substr(0, length));
  }
}

TEST(Tiff, SaysNothingOnStderr) {
  testing::internal::CaptureStderr();
  const auto vectors = load_vectors("images.json");
  expect_flips_are_clean(try_tiff, to_text(from_hex(vectors["tiff"][1]["file"])));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace modewise::io
