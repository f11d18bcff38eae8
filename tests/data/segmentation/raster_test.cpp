// Rasters from arrays of any dtype and axis order, and their windows.

#include "modewise/data/segmentation/raster.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <map>

#include "modewise/data/segmentation/pixels.h"
#include "tests/data/segmentation/scene_files.h"

namespace modewise::data {
namespace {

using testing::HasSubstr;

TEST(Scenes, ReadArraysInAnyOrderOfAxes) {
  const ScratchFolder folder;
  std::vector<float> values(2 * 3 * 4 * 5);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  folder.write("thwc.npy", io::format_npy(io::make_array({2, 3, 4, 5}, std::span<const float>(values))));
  const auto stack = open_raster(folder.path("thwc.npy"), "auto");
  EXPECT_EQ(stack->info().times, 2);
  EXPECT_EQ(stack->info().bands, 5);
  std::vector<float> out(2 * 1 * 2 * 5);
  stack->read({1, 2, 1, 2}, out);
  EXPECT_EQ(out[0], (1 * 4 + 2) * 5);
  EXPECT_EQ(out[10], ((3 + 1) * 4 + 2) * 5);
  const auto other = open_raster(folder.path("thwc.npy"), "tchw");  // bands 3, rows 4, columns 5
  EXPECT_EQ(other->info().bands, 3);
  EXPECT_EQ(other->info().height, 4);
  std::vector<float> pixel(2 * 3);
  other->read({1, 2, 1, 1}, pixel);
  EXPECT_EQ(pixel, (std::vector<float>{7, 27, 47, 67, 87, 107}));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { open_raster(folder.path("thwc.npy"), "hwc"); }),
              HasSubstr("an array with 4 axes, but an image has 3, 'hwc'"));
}

TEST(Rasters, ReadEveryTypeOfNumber) {
  const ScratchFolder folder;
  const auto open = [&](io::Array array, const std::string& axes = "auto") {
    return open_raster(folder.write("a.NPY", io::format_npy(array)), axes);
  };
  const auto array_of = [](io::Array::DType dtype, const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return io::Array{dtype, {1, 3}, {bytes.begin(), bytes.end()}};
  };
  const auto expect = [&](io::Array::DType dtype, const auto& values) {
    const auto raster = open(array_of(dtype, values));
    std::vector<float> out(3);
    raster->read({0, 0, 1, 3}, out);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(out[i], static_cast<float>(values[i])) << int(dtype);
    EXPECT_EQ(raster->info().dtype, io::dtype_name(dtype));
    EXPECT_EQ(raster->info().file_bytes, static_cast<int64_t>(sizeof(values)));
    EXPECT_EQ(raster->info().bands, 1);
    EXPECT_EQ(raster->info().width, 3);
    EXPECT_EQ(bytes_in_memory(raster->info()),
              static_cast<int64_t>(3 * std::min(io::item_size(dtype), size_t{4})));
    std::vector<float> cell(1);
    in_memory(*raster)->read({0, 1, 1, 1}, cell);
    EXPECT_EQ(cell[0], out[1]);
  };
  using Type = io::Array;
  expect(Type::u8, std::array<uint8_t, 3>{1, 200, 255});
  expect(Type::boolean, std::array<uint8_t, 3>{1, 0, 1});
  expect(Type::i8, std::array<int8_t, 3>{1, -100, -1});
  expect(Type::u16, std::array<uint16_t, 3>{1, 60000, 300});
  expect(Type::i16, std::array<int16_t, 3>{1, -30000, 300});
  expect(Type::u32, std::array<uint32_t, 3>{1, 4000000000, 70000});
  expect(Type::i32, std::array<int32_t, 3>{1, -2000000000, 70000});
  expect(Type::u64, std::array<uint64_t, 3>{1, uint64_t{1} << 63, 5000000000});
  expect(Type::i64, std::array<int64_t, 3>{1, -5000000000, 7});
  expect(Type::f32, std::array<float, 3>{0.5F, -2.25F, 1e30F});
  expect(Type::f64, std::array<double, 3>{0.5, -2.25, 1e30});
  const std::array<uint16_t, 3> halves = {0, 0x3e00, 0xc000};
  std::vector<float> out(3);
  open(array_of(Type::f16, halves))->read({0, 0, 1, 3}, out);
  EXPECT_EQ(out, (std::vector<float>{0, 1.5F, -2}));
  EXPECT_THAT(error_of(ErrorKind::data,
                       [&] {
                         open({Type::u8, {3}, std::vector<std::byte>(3)});
                       }),
              HasSubstr("an array with 1 axes, but an image has 2, 3 or 4 (data.axes sets their order)"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { open({Type::u8, {0, 3}, {}}); }), HasSubstr("has no elements"));
  const auto chw = open({Type::u8, {2, 3, 4}, std::vector<std::byte>(24)}, "chw");
  EXPECT_EQ(chw->info().bands, 2);
  EXPECT_EQ(chw->info().height, 3);
  EXPECT_EQ(chw->info().times, 1);
  for (const char* name : {"a.tif", "b.TIFF", "c.npy"}) EXPECT_TRUE(is_raster_name(name)) << name;
  for (const char* name : {"a.png", "tif", "a.npz"}) EXPECT_FALSE(is_raster_name(name)) << name;
}

TEST(Rasters, AreTheSameInMemory) {
  const ScratchFolder folder;
  std::vector<float> values(2 * 5 * 7 * 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 101);
  const auto raster = open_raster(
      folder.write("a.npy", io::format_npy(io::make_array({2, 5, 7, 3}, std::span<const float>(values)))),
      "auto");
  const auto memory = in_memory(*raster);
  for (const PixelRect& window : {PixelRect{0, 0, 5, 7}, {1, 2, 3, 4}, {4, 6, 1, 1}}) {
    std::vector<float> one(static_cast<size_t>(2 * window.pixels() * 3)), other(one.size());
    raster->read(window, one);
    memory->read(window, other);
    EXPECT_EQ(one, other);
    EXPECT_EQ(one[0], values[static_cast<size_t>((window.row * 7 + window.column) * 3)]);
  }
}

TEST(Rasters, TakeTheBytesOfTheirTypeInMemory) {
  RasterInfo info;
  info.times = 2, info.height = 3, info.width = 5, info.bands = 7;
  for (const auto& [dtype, item] :
       std::map<std::string, int64_t>{{"u8", 1}, {"i8", 1}, {"u16", 2}, {"i16", 2}, {"u32", 4}, {"f64", 4}}) {
    info.dtype = dtype;
    EXPECT_EQ(bytes_in_memory(info), 210 * item) << dtype;
  }
  info.dtype = "u8";
  for (const auto& [nodata, item] :
       std::map<double, int64_t>{{0, 1}, {255, 1}, {256, 4}, {-1, 4}, {0.5, 4}}) {
    info.nodata = nodata;
    EXPECT_EQ(bytes_in_memory(info), 210 * item) << nodata;
  }
  info.nodata = std::nan("");
  EXPECT_EQ(bytes_in_memory(info), 840);
}

TEST(Rasters, ReadArraysInFortranOrderAndBigEndian) {
  // numpy: np.save(file, np.asfortranarray(np.arange(24, dtype=">i2").reshape(2, 3, 4) * 300 - 3000))
  const ScratchFolder folder;
  std::string header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3, 4), }";
  header.resize(117, ' ');
  std::string file = std::string("\x93NUMPY\x01\x00", 8) + '\x76' + '\x00' + header + '\n';
  for (int band = 0; band < 4; ++band)
    for (int column = 0; column < 3; ++column)
      for (int row = 0; row < 2; ++row) {
        const auto value = static_cast<uint16_t>((12 * row + 4 * column + band) * 300 - 3000);
        file += static_cast<char>(value >> 8);
        file += static_cast<char>(value & 255);
      }
  const auto raster = open_raster(folder.write("a.npy", file), "auto");
  EXPECT_EQ(raster->info().height, 2);
  EXPECT_EQ(raster->info().width, 3);
  EXPECT_EQ(raster->info().bands, 4);
  const auto memory = in_memory(*raster);
  std::vector<float> out(8), other(8);
  raster->read({1, 1, 1, 2}, out);
  memory->read({1, 1, 1, 2}, other);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], (16 + i) * 300 - 3000);
  EXPECT_EQ(out, other);
}

TEST(SceneParts, HaveAtMostFourMillionValues) {
  const auto parts = [](const PixelRect& area, int64_t values) {
    std::vector<std::pair<int64_t, int64_t>> rows;
    for (const PixelRect& part : in_parts(area, values)) {
      EXPECT_EQ(part.column, area.column);
      EXPECT_EQ(part.width, area.width);
      rows.emplace_back(part.row, part.height);
    }
    return rows;
  };
  using Rows = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(parts({3, 4, 10, 1 << 20}, 1), (Rows{{3, 4}, {7, 4}, {11, 2}}));
  EXPECT_EQ(parts({3, 4, 8, 1 << 19}, 2), (Rows{{3, 4}, {7, 4}}));
  EXPECT_EQ(parts({0, 1, 2, 1 << 23}, 1), (Rows{{0, 1}, {1, 1}}));
  EXPECT_EQ(parts({5, 1, 3, 2}, 1), (Rows{{5, 3}}));
}

}  // namespace
}  // namespace modewise::data
