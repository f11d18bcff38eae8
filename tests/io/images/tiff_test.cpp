#include "modewise/io/images/tiff.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "modewise/core/file.h"
#include "tests/io/compress.h"
#include "tests/io/damage.h"
#include "tests/io/images/tiff_builder.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

constexpr int64_t kMiB = 1 << 20;

// The whole image, or, where it is large, windows at its corners.
void parse(std::span<const std::byte> bytes) {
  const TiffReader reader(bytes, "file");
  const TiffInfo& info = reader.info();
  const int64_t side = info.bands > 100 ? 8 : 128;
  const int64_t height = std::min(side, info.height), width = std::min(side, info.width);
  for (const int64_t row : {int64_t{0}, info.height - height}) {
    for (const int64_t column : {int64_t{0}, info.width - width}) reader.read(row, column, height, width);
  }
}

std::vector<float> read_all(const TiffReader& reader) {
  return reader.read(0, 0, reader.info().height, reader.info().width);
}

std::vector<float> floats(const nlohmann::json& texts) {
  std::vector<float> values;
  for (const auto& text : texts) values.push_back(static_cast<float>(from_hex_float(text)));
  return values;
}

void expect_same(const std::vector<float>& values, const std::vector<float>& expected,
                 const std::string& name) {
  ASSERT_EQ(values.size(), expected.size()) << name;
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i])))
        << name << " " << i << ": " << values[i] << " " << expected[i];
  }
}

TEST(Tiff, ReadsWhatOthersWrote) {
  const auto vectors = load_vectors("images.json");
  for (const auto& test : vectors["tiff"]) {
    const std::string name = test["name"];
    const std::vector<std::byte> file = from_hex(test["file"]);
    const TiffReader reader(file, name);
    const TiffInfo& info = reader.info();
    EXPECT_EQ((std::vector<int64_t>{info.height, info.width, info.bands}),
              test["shape"].get<std::vector<int64_t>>());
    EXPECT_EQ(info.dtype, test["dtype"].get<std::string>()) << name;
    EXPECT_EQ(info.nodata.has_value(), !test["nodata"].is_null()) << name;
    if (info.nodata && !std::isnan(*info.nodata)) {
      EXPECT_EQ(*info.nodata, from_hex_float(test["nodata"])) << name;
    }
    const GeoReference geo = info.geo.value_or(GeoReference{});
    EXPECT_EQ(geo.crs_text(), test["crs"].get<std::string>()) << name;
    for (size_t i = 0; i < 6; ++i)
      EXPECT_EQ(geo.transform()[i], from_hex_float(test["transform"][i])) << name;
    expect_same(read_all(reader), floats(test["values"]), name);
  }
}

TEST(Tiff, ReadsEveryWindow) {
  const auto vectors = load_vectors("images.json");
  for (const auto& test : vectors["tiff"]) {
    const std::vector<std::byte> file = from_hex(test["file"]);
    const TiffReader reader(file, "file");
    const TiffInfo& info = reader.info();
    const std::vector<float> all = read_all(reader);
    for (int64_t row = 0; row < info.height; row += 2) {
      for (int64_t column = 0; column < info.width; column += 3) {
        const int64_t height = std::min<int64_t>(info.height - row, 1 + (row + column) % 19);
        const int64_t width = std::min<int64_t>(info.width - column, 1 + (3 * row + column) % 23);
        std::vector<float> expected;
        for (int64_t r = row; r < row + height; ++r) {
          const auto begin = all.begin() + (r * info.width + column) * info.bands;
          expected.insert(expected.end(), begin, begin + width * info.bands);
        }
        expect_same(reader.read(row, column, height, width), expected, test["name"]);
      }
    }
  }
}

TEST(Tiff, RefusesWindowsOutsideTheImage) {
  const std::string text = TiffBuilder::small().text();
  const std::vector<std::byte> file = to_bytes(text);
  const TiffReader reader(file, "file");
  EXPECT_EQ(reader.read(1, 2, 1, 1), (std::vector<float>{6}));
  EXPECT_TRUE(reader.read(2, 3, 0, 0).empty());
  for (const auto& [row, column, height, width] : std::vector<std::array<int64_t, 4>>{{-1, 0, 1, 1},
                                                                                      {0, -1, 1, 1},
                                                                                      {0, 0, 3, 1},
                                                                                      {0, 0, 1, 4},
                                                                                      {2, 0, 1, 1},
                                                                                      {0, 0, -1, 1},
                                                                                      {INT64_MAX, 0, 1, 1}}) {
    EXPECT_THROW(reader.read(row, column, height, width), Error);
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
  ASSERT_EQ(message_of(parse, big.text()), "");
  const auto patched = [&](std::string text, size_t at, const std::string& value) {
    return text.replace(at, value.size(), value);
  };
  const std::vector<Corruption> corruptions = {
      {"empty", "", "is empty"},
      {"text", "column,column\n1,2\n", "not a TIFF image"},
      {"one byte", "I", "not a TIFF image"},
      {"mixed order", patched(valid, 1, "M"), "not a TIFF image"},
      {"big endian mark", patched(valid, 0, "MM"), "not a TIFF image"},
      {"version 44", patched(valid, 2, "\x2c"), "not a TIFF image"},
      {"no directory", patched(valid, 4, std::string(4, '\0')), "holds no image"},
      {"directory beyond the end", patched(valid, 4, "\xff\xff\xff\x7f"), "beyond the end"},
      {"directory at the end",
       patched(valid, 4, std::string(1, static_cast<char>(valid.size())) + std::string(3, '\0')),
       "beyond the end"},
      {"BigTIFF with offsets of 4 bytes", patched(big.text(), 4, "\x04"), "offsets of 8 bytes"},
      {"BigTIFF directory beyond the end", patched(big.text(), 8, "\xff\xff\xff\xff\xff\xff\xff\x7f"),
       "beyond the end"},
      {"no entries", patched(valid, 22, std::string(2, '\0')), "declares 0 entries"},
      {"65535 entries", patched(valid, 22, "\xff\xff"), "end beyond the file"},
      {"2^40 entries in BigTIFF", patched(big.text(), 22, std::string(5, '\0') + "\x01"), "1 to 65535"},
      {"a tag twice", twice.text(), "stands twice"},
      {"values beyond the end", small.with({{270, {2, {}, 100, 1000}}}).text(), "lie beyond the end"},
      {"2^32 values", small.with({{270, {2, {}, 0xffffffff, 16}}}).text(), "lie beyond the end"},
      {"values that wrap", small.with({{33550, {12, {}, 0x20000001, 16}}}).text(), "lie beyond the end"},
      {"tags over each other", overlapping.text(), "lie over each other"},
  };
  expect_refused(parse, corruptions);
}

TEST(Tiff, RefusesLyingLayouts) {
  const TiffBuilder small = TiffBuilder::small();
  TiffBuilder tiled = small.without(273).without(278).without(279);
  tiled.data = bytes_of(256);
  tiled = tiled.with({{322, {3, {16}}}, {323, {3, {16}}}, {324, {4, {16}}}, {325, {4, {256}}}});
  ASSERT_EQ(message_of(parse, tiled.text()), "");
  const TiffTag two16{4, {16, 16}}, million{4, {1000000}}, largest{4, {0xffffffff}};
  TiffBuilder wide = small;
  wide.data = bytes_of(65535);
  wide = wide.with({{256, {3, {1}}}, {257, {3, {1}}}, {277, {3, {65535}}}, {279, {4, {65535}}}});
  ASSERT_EQ(message_of(parse, wide.text()), "");  // a pixel of 65,535 bands that are all there
  const std::vector<Corruption> corruptions = {
      {"no width", small.without(256).text(), "ImageWidth): the tag is missing"},
      {"no height", small.without(257).text(), "ImageLength): the tag is missing"},
      {"width 0", small.with({{256, {3, {0}}}}).text(), "1 to 2147483647"},
      {"height 0", small.with({{257, {4, {0}}}}).text(), "1 to 2147483647"},
      {"width 2^32 - 1", small.with({{256, largest}}).text(), "1 to 2147483647"},
      {"width as text", small.with({{256, text_tag("3")}}).text(), "one value is needed, got 2"},
      {"width as a letter", small.with({{256, {2, {'3'}}}}).text(), "whole numbers are needed"},
      {"two widths", small.with({{256, {3, {3, 3}}}}).text(), "one value is needed, got 2"},
      {"one pixel more", small.with({{257, {3, {3}}}, {278, {3, {3}}}}).text(), "they cannot be there"},
      {"a strip more", small.with({{257, {3, {3}}}}).text(), "make 2 strips, but there are 1"},
      {"10^6 x 10^6 in one strip", small.with({{256, million}, {257, million}, {278, million}}).text(),
       "they cannot be there"},
      {"10^6 x 10^6 in strips", small.with({{256, million}, {257, million}}).text(), "make 500000 strips"},
      {"10^6 x 10^6 in tiles", tiled.with({{256, million}, {257, million}}).text(), "make 3906250000 tiles"},
      {"2^31 x 2^31 in tiles, 65,535 planes",
       tiled.with({{256, {4, {0x7fffffff}}}, {257, {4, {0x7fffffff}}}, {277, {3, {65535}}}, {284, {3, {2}}}}).text(),
       "tiles, but there are 1"},
      {"no bands", small.with({{277, {3, {0}}}}).text(), "1 to 65535 bands"},
      {"65,535 bands", small.with({{277, {3, {65535}}}}).text(), "they cannot be there"},
      {"65,535 planes", small.with({{277, {3, {65535}}}, {284, {3, {2}}}}).text(), "make 65535 strips"},
      {"65,536 bands", small.with({{277, {4, {65536}}}}).text(), "1 to 65535 bands"},
      {"1 bit", small.with({{258, {3, {1}}}}).text(), "1 bits of sample format 1"},
      {"no bits", small.without(258).text(), "1 bits of sample format 1"},
      {"12 bits", small.with({{258, {3, {12}}}}).text(), "12 bits"},
      {"0 bits", small.with({{258, {3, {0}}}}).text(), "0 bits"},
      {"half precision", small.with({{258, {3, {16}}}, {339, {3, {3}}}}).text(), "16 bits of sample format 3"},
      {"complex", small.with({{258, {3, {64}}}, {339, {3, {6}}}}).text(), "sample format 6"},
      {"sample format 0", small.with({{339, {3, {0}}}}).text(), "sample format 0"},
      {"bands of two sizes", small.with({{277, {3, {2}}}, {258, {3, {8, 16}}}}).text(), "got 8 and 16"},
      {"planar 3", small.with({{284, {3, {3}}}}).text(), "1 (chunky) or 2 (planar)"},
      {"fill order 2", small.with({{266, {3, {2}}}}).text(), "highest bit first"},
      {"strips of 0 rows", small.with({{278, {3, {0}}}}).text(), "at least one row"},
      {"tile width 0", tiled.with({{322, {3, {0}}}}).text(), "1 to 2147483647"},
      {"tile height missing", tiled.without(323).text(), "TileLength): the tag is missing"},
      {"tiles of 2^31 x 2^31", tiled.with({{322, {4, {0x7fffffff}}}, {323, {4, {0x7fffffff}}}}).text(), "at once"},
      {"compressed tiles of 32768 x 32768", tiled.with({{259, {3, {8}}}, {322, {3, {32768}}}, {323, {3, {32768}}}}).text(),
       "one of its tiles"},
      {"a row of 16 GB", small.with({{256, {4, {0x7fffffff}}}, {258, {3, {64}}}}).text(), "one row of its strips"},
      {"JPEG", small.with({{259, {3, {7}}}}).text(), "compression 7 is not read"},
      {"an unknown compression", small.with({{259, {3, {99}}}}).text(), "compression 99 is not read"},
      {"compression 65541", small.with({{259, {4, {65541}}}}).text(), "compression 65541 is not read"},
      {"no offsets", small.without(273).text(), "StripOffsets): the tag is missing"},
      {"no sizes", small.without(279).text(), "StripByteCounts): the tag is missing"},
      {"no tile offsets", tiled.without(324).text(), "TileOffsets): the tag is missing"},
      {"offset past the end", small.with({{273, {4, {100000}}}}).text(),
       "strip 0 (row 0, column 0) takes 6 bytes from byte 100000, which is not inside the file"},
      {"tile offset past the end", tiled.with({{324, {4, {0x7fffffff}}}}).text(),
       "tile 0 (row 0, column 0) takes 256 bytes from byte 2147483647"},
      {"tile offset that wraps", [&] {
         TiffBuilder file = tiled.with({{324, {16, {UINT64_MAX - 10}}}});
         file.big = true;
         return file.text();
       }(), "is not inside the file"},
      {"a block over the header", small.with({{273, {4, {2}}}}).text(), "is not inside the file"},
      {"a size past the end", small.with({{279, {4, {100000}}}}).text(), "takes 100000 bytes"},
      {"an offset without a size", small.with({{279, {4, {0}}}}).text(), "takes 0 bytes"},
      {"stored bytes too few", small.with({{279, {4, {5}}}}).text(), "holds 5 bytes, but the directory declares 6"},
      {"a bomb", tiled.with({{259, {3, {8}}}, {322, {3, {4096}}}, {323, {3, {4096}}}}).text(), "they cannot be there"},
  };
  EXPECT_GE(corruptions.size(), 45u);
  expect_refused(parse, corruptions);
}

TEST(Tiff, RefusesDamagedTagsAndData) {
  const TiffBuilder small = TiffBuilder::small();
  const auto compressed = [&](uint64_t method, const std::string& data) {
    TiffBuilder file = small.with({{259, {3, {method}}}, {279, {4, {data.size()}}}});
    file.data = data;
    return file;
  };
  const std::string deflated("\x78\xda\x63\x64\x62\x66\x61\x65\x03\x00\x00\x3e\x00\x16", 14);  // 1 2 3 4 5 6
  ASSERT_EQ(message_of(parse, compressed(8, deflated).text()), "");
  const std::vector<Corruption> corruptions = {
      {"nodata as a word", small.with({{42113, text_tag("none")}}).text(),
       "GDAL_NODATA): a number is needed"},
      {"nodata without text", small.with({{42113, text_tag("")}}).text(), "a number is needed"},
      {"nodata as a number", small.with({{42113, {3, {1}}}}).text(), "text is needed"},
      {"nodata with more", small.with({{42113, text_tag("1 2")}}).text(), "a number is needed"},
      {"geographic keys as text", small.with({{34735, text_tag("EPSG")}}).text(), "whole numbers are needed"},
      {"wide geographic keys", small.with({{34735, {4, {1, 1, 0, 70000}}}}).text(), "numbers of 16 bits"},
      {"too many keys declared", small.with({{34735, {3, {1, 1, 0, 2, 3072, 0, 1, 32633}}}}).text(),
       "8 values cannot hold the 2 keys"},
      {"keys cut short", small.with({{34735, {3, {1, 1}}}}).text(), "cannot hold"},
      {"pixel scale as whole numbers", small.with({{33550, {4, {1, 1, 0}}}}).text(), "doubles are needed"},
      {"a short palette", small.with({{320, {3, std::vector<uint64_t>(6, 1)}}}).text(), "3 x 256 values"},
      {"deflate: no stream", compressed(8, "abcdefgh").text(),
       "strip 0 (row 0; 8 bytes from byte 16) cannot be decoded"},
      {"deflate: truncated", compressed(8, deflated.substr(0, 6)).text(), "cannot be decoded"},
      {"deflate: one pixel less", compressed(8, deflated).with({{257, {3, {3}}}, {278, {3, {3}}}}).text(),
       "cannot be decoded"},
      {"LZW: no stream", compressed(5, std::string(9, '\xff')).text(), "cannot be decoded"},
      {"LZW: truncated", compressed(5, std::string("\x80\x00", 2)).text(), "cannot be decoded"},
      {"PackBits: truncated", compressed(32773, "\x05\x01\x02").text(), "cannot be decoded"},
      {"predictor 9", compressed(8, deflated).with({{317, {3, {9}}}}).text(), "redictor"},
      {"a predictor for floats", compressed(8, deflated).with({{317, {3, {3}}}}).text(), "redictor"},
  };
  expect_refused(parse, corruptions);
}

TEST(Tiff, SurvivesTruncationsAndFlips) {
  expect_every_truncation_fails(parse, TiffBuilder::small().text());
  const auto vectors = load_vectors("images.json");
  for (const auto& test : vectors["tiff"]) {
    const std::string file = to_text(from_hex(test["file"]));
    expect_flips_are_clean(parse, file);
    // GDAL and tifffile may pad what they write.
    for (size_t length = 0; length < file.size(); ++length) message_of(parse, file.substr(0, length));
  }
}

TEST(Tiff, ReadsMissingBlocksAsNodata) {
  TiffBuilder sparse = TiffBuilder::small().without(273).without(278).without(279);
  sparse = sparse.with({{256, {3, {20}}},
                        {257, {3, {17}}},
                        {322, {3, {16}}},
                        {323, {3, {16}}},
                        {324, {4, {0, 16, 0, 0}}},
                        {325, {4, {0, 256, 0, 0}}}});
  sparse.data = bytes_of(256);
  for (const bool with_nodata : {false, true}) {
    if (with_nodata) sparse.tags[42113] = text_tag("7");
    const std::vector<std::byte> file = to_bytes(sparse.text());
    const TiffReader reader(file, "file");
    const float empty = with_nodata ? 7 : 0;
    EXPECT_EQ(reader.read(15, 15, 2, 2), (std::vector<float>{empty, 0x55, empty, empty}));
  }
}

// Blocks beyond 64 MiB are decoded row by row.
TEST(Tiff, ReadsLargeStripsByRows) {
  const auto path = std::filesystem::path(testing::TempDir()) / "strips.tif";
  constexpr int64_t kWidth = 20000, kHeight = 4000;  // 80 MB
  TiffBuilder file =
      TiffBuilder::small().with({{256, {3, {kWidth}}}, {257, {3, {kHeight}}}, {278, {3, {kHeight}}}});
  {
    // Stored, with holes: the file takes no room on the disk.
    const uint64_t offset = 4096;
    const std::string head = file.with({{273, {4, {offset}}}, {279, {4, {kWidth * kHeight}}}}).text();
    std::ofstream(path, std::ios::binary) << head;
    std::filesystem::resize_file(path, offset + kWidth * kHeight);
    std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(offset + 3999 * kWidth + 5));
    out.put('\x07');
    out.close();
    const TiffReader reader(path);
    EXPECT_EQ(reader.read(3998, 4, 2, 2), (std::vector<float>{0, 0, 0, 7}));
  }
  {
    // PackBits: runs of 128 equal bytes, 20000 = 156 · 128 + 32 a row.
    std::string row;
    for (int i = 0; i < 156; ++i) row += "\x81\x02";
    row += "\xe1\x03";
    file.data.clear();
    for (int64_t i = 0; i < kHeight; ++i) file.data += row;
    const std::vector<std::byte> bytes =
        to_bytes(file.with({{259, {3, {32773}}}, {279, {4, {file.data.size()}}}}).text());
    const TiffReader reader(bytes, "file");
    EXPECT_EQ(reader.read(2000, 19967, 1, 2), (std::vector<float>{2, 3}));
    EXPECT_EQ(reader.read(0, 0, 1, 1), (std::vector<float>{2}));
    EXPECT_EQ(reader.read(3999, 19999, 1, 1), (std::vector<float>{3}));
    EXPECT_EQ(reader.read(3998, 19967, 2, 2), (std::vector<float>{2, 3, 2, 3}));
  }
  std::filesystem::remove(path);
}

// What windows cost is counted in bytes decoded: the first pass, and one more that is kept.
TEST(Tiff, DecodesALargeStripTwiceAtMostWhateverWindowsAreRead) {
  constexpr int64_t kSide = 8300, kStep = 500, kBytes = kSide * kSide;  // 69 MB in one strip
  std::string pixels(static_cast<size_t>(kBytes), '\0');
  for (int64_t row = 0; row < kSide; ++row)
    for (int64_t column = 0; column < kSide; column += 100)
      pixels[static_cast<size_t>(row * kSide + column)] = static_cast<char>((row + column / 100) % 100);
  TiffBuilder file = TiffBuilder::small();
  file.data = zlib_of(pixels);
  const TiffTag side{3, {kSide}};
  file = file.with({{256, side}, {257, side}, {278, side}, {259, {3, {8}}}, {279, {4, {file.data.size()}}}});
  const std::vector<std::byte> bytes = to_bytes(file.text());
  const TiffReader reader(bytes, "file");
  for (int64_t row = 0; row + kStep <= kSide; row += kStep) {
    for (int64_t column = 0; column + kStep <= kSide; column += kStep) {
      const std::vector<float> window = reader.read(row, column, kStep, kStep);
      for (int64_t at = 0; at < kStep * kStep; at += 12'347) {
        const int64_t r = row + at / kStep, c = column + at % kStep;
        ASSERT_EQ(window[static_cast<size_t>(at)],
                  static_cast<float>(pixels[static_cast<size_t>(r * kSide + c)]));
      }
    }
    ASSERT_LE(reader.decoded_bytes(), 2 * kBytes) << row;
  }
}

// Two strips of 40 MB cannot be held together; windows across their border want both in turn.
TEST(Tiff, DecodesBlocksThatPushEachOtherOutTwiceAtMost) {
  constexpr int64_t kWidth = 10'000, kRows = 4000, kBytes = kWidth * kRows;
  TiffBuilder file = TiffBuilder::small();
  file.data = zlib_of(std::string(static_cast<size_t>(kBytes), '\5'));
  const uint64_t size = file.data.size(), at = TiffBuilder::kData;
  file = file.with({{256, {3, {kWidth}}},
                    {257, {3, {2 * kRows}}},
                    {278, {3, {kRows}}},
                    {259, {3, {8}}},
                    {273, {4, {at, at}}},
                    {279, {4, {size, size}}}});
  const std::vector<std::byte> bytes = to_bytes(file.text());
  const TiffReader reader(bytes, "file");
  for (int64_t column = 0; column < kWidth; column += 100)
    EXPECT_EQ(reader.read(kRows - 1, column, 2, 1), (std::vector<float>{5, 5}));
  EXPECT_LE(reader.decoded_bytes(), 2 * 2 * kBytes);
}

// Large strips that are stored in the other byte order.
TEST(Tiff, TurnsTheBytesOfLargeStrips) {
  const auto path = std::filesystem::path(testing::TempDir()) / "other_order.tif";
  constexpr uint32_t kWidth = 20000, kHeight = 2000;  // 80 MB of 16 bits
  std::string head("MM\0\x2a\0\0\0\x08\0\x09", 10);
  const auto entry = [&](uint16_t tag, uint32_t value) {
    for (const uint32_t part : {uint32_t{tag}, 4u})
      head += {static_cast<char>(part >> 8), static_cast<char>(part)};
    for (const uint32_t part : {1u, value}) {
      for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(part >> shift);
    }
  };
  for (const auto& [tag, value] : std::map<uint16_t, uint32_t>{{256, kWidth},
                                                               {257, kHeight},
                                                               {258, 16},
                                                               {259, 1},
                                                               {262, 1},
                                                               {273, 4096},
                                                               {277, 1},
                                                               {278, kHeight},
                                                               {279, 2 * kWidth * kHeight}}) {
    entry(tag, value);
  }
  std::ofstream(path, std::ios::binary) << head;
  std::filesystem::resize_file(path, 4096 + 2 * kWidth * kHeight);
  std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(4096 + 2 * (1000 * kWidth + 17));
  out << '\1' << '\2';
  out.close();
  EXPECT_EQ(TiffReader(path).read(1000, 16, 1, 3), (std::vector<float>{0, 258, 0}));
  std::filesystem::remove(path);
}

TEST(Tiff, SaysWhenAFileShrinksUnderIt) {
  const auto path = std::filesystem::path(testing::TempDir()) / "shrinks.tif";
  for (const uint64_t method : {1, 32773}) {
    TiffBuilder file = TiffBuilder::small().with({{259, {3, {method}}}, {279, {4, {7}}}});
    file.data = {5, 1, 2, 3, 4, 5, 6};
    std::ofstream(path, std::ios::binary) << file.text();
    const TiffReader reader(path);
    std::filesystem::resize_file(path, 10);
    EXPECT_THROW(reader.read(0, 0, 2, 3), Error);
  }
  std::filesystem::remove(path);
}

int64_t bytes_read_so_far() {
  std::ifstream file("/proc/self/io");
  std::string name;
  int64_t value = 0;
  file >> name >> value;  // rchar
  return value;
}

// 100,000 × 100,000 pixels, 10 GB, in tiles that are holes of the file but for one.
TEST(Tiff, ReadsNoMoreThanAWindowNeeds) {
  const auto path = std::filesystem::path(testing::TempDir()) / "scene.tif";
  constexpr uint64_t kSide = 100000, kAcross = 391, kTiles = kAcross * kAcross, kTile = 65536,
                     kFirst = 1 << 22;
  TiffBuilder file = TiffBuilder::small().without(273).without(278).without(279);
  file.big = true;
  std::vector<uint64_t> offsets, sizes(kTiles, kTile);
  for (uint64_t i = 0; i < kTiles; ++i) offsets.push_back(kFirst + i * kTile);
  file = file.with({{256, {4, {kSide}}},
                    {257, {4, {kSide}}},
                    {322, {3, {256}}},
                    {323, {3, {256}}},
                    {324, {16, offsets}},
                    {325, {4, sizes}}});
  std::ofstream(path, std::ios::binary) << file.text();
  std::filesystem::resize_file(path, kFirst + kTiles * kTile);
  {
    std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(kFirst + (200 * kAcross + 300) * kTile + 257));
    out.put('\x09');
  }
  const auto memory = mallinfo2();
  const TiffReader reader(path);
  const int64_t before = bytes_read_so_far();
  const std::vector<float> window = reader.read(200 * 256 - 50, 300 * 256 - 50, 100, 100);
  EXPECT_LT(bytes_read_so_far() - before, 2 * kMiB);
  EXPECT_EQ(window[51 * 100 + 51], 9);
  EXPECT_EQ(std::count(window.begin(), window.end(), 0.0f), 9999);
  const auto now = mallinfo2();
  EXPECT_LT(now.uordblks + now.hblkhd, memory.uordblks + memory.hblkhd + 16 * kMiB);
  std::filesystem::remove(path);
}

TEST(Tiff, AnswersSeveralThreads) {
  const auto vectors = load_vectors("images.json");
  for (const auto& test : vectors["tiff"]) {
    const std::vector<std::byte> file = from_hex(test["file"]);
    const TiffReader reader(file, "file");
    const std::vector<float> expected = floats(test["values"]);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int repeat = 0; repeat < 20; ++repeat) expect_same(read_all(reader), expected, test["name"]);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Tiff, SaysWhyAFileCannotBeRead) {
  for (const char* path : {"/no/such/file.tif", "/"}) {
    try {
      const TiffReader reader{std::filesystem::path(path)};
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_input) << error.what();
    }
  }
}

TEST(Tiff, SaysNothingOnStderr) {
  testing::internal::CaptureStderr();
  const auto vectors = load_vectors("images.json");
  expect_flips_are_clean(parse, to_text(from_hex(vectors["tiff"][1]["file"])));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(GeoReference, TurnsTagsIntoATransform) {
  GeoReference geo;
  EXPECT_EQ(geo.transform(), (std::array<double, 6>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(geo.crs_text(), "");
  geo.pixel_scale = {10, 20, 0};
  geo.tie_points = {2, 3, 0, 500, 900, 0};
  EXPECT_EQ(geo.transform(), (std::array<double, 6>{10, 0, 480, 0, -20, 960}));
  geo.keys = {1, 1, 0, 1, 1025, 0, 1, 2};  // the middle of the pixel
  EXPECT_EQ(geo.transform(), (std::array<double, 6>{10, 0, 475, 0, -20, 970}));
  geo.pixel_scale.clear();
  geo.transformation = {1, 2, 0, 30, 4, 5, 0, 60, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(geo.transform(), (std::array<double, 6>{1, 2, 28.5, 4, 5, 55.5}));
}

TEST(GeoReference, NamesItsSystem) {
  GeoReference geo;
  geo.keys = {1, 1, 0, 2, 2048, 0, 1, 4326, 3072, 0, 1, 32633};
  EXPECT_EQ(geo.crs_text(), "EPSG:32633");
  geo.keys = {1, 1, 0, 1, 2048, 0, 1, 4326};
  EXPECT_EQ(geo.crs_text(), "EPSG:4326");
  geo.key_text = "my grid|WGS 84|";
  geo.keys = {1, 1, 0, 3, 1026, 34737, 8, 0, 2048, 0, 1, 4326, 3072, 0, 1, 32767};
  EXPECT_EQ(geo.crs_text(), "my grid");
  geo.keys = {1, 1, 0, 1, 1026, 34737, 8, 99};
  EXPECT_EQ(geo.crs_text(), "");
  geo.keys = {1, 1, 0, 9, 1026};
  EXPECT_EQ(geo.crs_text(), "");
}

}  // namespace
}  // namespace modewise::io
