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
#include "tests/error_of.h"
#include "tests/io/allocation_meter.h"
#include "tests/io/compress.h"
#include "tests/io/damage.h"
#include "tests/io/images/tiff_builder.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

std::vector<float> read_all(const TiffReader& reader) {
  return reader.read(0, 0, reader.info().height, reader.info().width);
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
    expect_same(read_all(reader), from_hex_floats(test["values"]), name);
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
    EXPECT_EQ(error_of(ErrorKind::internal, [&] { reader.read(row, column, height, width); }),
              fmt::format("file: a window of {} x {} at row {}, column {} is not inside 2 x 3 pixels", height,
                          width, row, column));
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
  sparse.data = std::string(256, '\x55');
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
    // Uncompressed, as a sparse file that takes no disk space.
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
    // PackBits: runs of 128 equal bytes, 20000 = 156 · 128 + 32 per row.
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

// The cost of windows is the number of decoded bytes: the first pass, and one more that is stored.
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

// Two strips of 40 MB do not fit into the cache; windows across their border need both in turn.
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

// Large strips in the other byte order.
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
    EXPECT_EQ(
        error_of(ErrorKind::data, [&] { reader.read(0, 0, 2, 3); }),
        path.string() + ": a tag's values at byte 94 (4 bytes) lies beyond the end of the file (138 bytes)");
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

// 100,000 × 100,000 pixels, 10 GB, in tiles, all but one of them missing (sparse).
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
    const std::vector<float> expected = from_hex_floats(test["values"]);
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

TEST(GeoReference, TurnsTagsIntoATransform) {
  GeoReference geo;
  EXPECT_EQ(geo.transform(), (std::array<double, 6>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(geo.crs_text(), "");
  geo.pixel_scale = {10, 20, 0};
  geo.tie_points = {2, 3, 0, 500, 900, 0};
  EXPECT_EQ(geo.transform(), (std::array<double, 6>{10, 0, 480, 0, -20, 960}));
  geo.keys = {1, 1, 0, 1, 1025, 0, 1, 2};  // pixel is point
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
