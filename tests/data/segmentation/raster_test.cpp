// Rasters from arrays of any dtype and axis order, and their windows.

#include "modewise/data/segmentation/raster.h"

#include <gmock/gmock.h>

#include <array>

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
  const std::array<uint16_t, 3> halves = {0, 1, 2};
  std::vector<float> out(3);
  EXPECT_THAT(error_of(ErrorKind::data,
                       [&] {
                         open(array_of(Type::f16, halves))->read({0, 0, 1, 3}, out);
                       }),
              HasSubstr("float16 images are not supported"));
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
