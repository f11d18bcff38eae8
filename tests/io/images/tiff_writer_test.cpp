#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>

#include "modewise/core/file.h"
#include "modewise/io/images/tiff.h"
#include "tests/error_of.h"
#include "tests/io/damage.h"

namespace modewise::io {
namespace {

namespace fs = std::filesystem;

class TiffWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("writer" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

GeoReference somewhere() {
  return {{10, 10, 0}, {0, 0, 0, 500000, 4.2e6, 0}, {}, {1, 1, 0, 2, 1025, 0, 1, 1, 3072, 0, 1, 32633}, {},
          {}};
}

template <class T>
std::vector<T> ramp(const TiffInfo& info) {
  std::vector<T> values(static_cast<size_t>(info.height * info.width * info.bands));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>((i * 7919) % 251);
  return values;
}

template <class T>
void write(const fs::path& path, const TiffInfo& info, const std::vector<T>& values, int64_t rows_at_once) {
  TiffWriter writer(path, info);
  for (int64_t row = 0; row < info.height; row += rows_at_once) {
    const int64_t rows = std::min(rows_at_once, info.height - row), size = info.width * info.bands;
    writer.write_rows(
        row, std::span(values).subspan(static_cast<size_t>(row * size), static_cast<size_t>(rows * size)));
  }
  writer.close();
}

TEST_F(TiffWriterTest, IsReadBack) {
  for (const auto& [height, width, bands] : std::vector<std::array<int64_t, 3>>{
           {1, 1, 1}, {3, 5, 2}, {257, 300, 1}, {255, 513, 3}, {600, 31, 1}}) {
    for (const std::string compression : {"none", "lzw", "deflate"}) {
      for (const bool tiled : {false, true}) {
        TiffInfo info{height, width, bands};
        std::swap(info.width, info.height);
        info.geo = somewhere();
        info.tiled = tiled;
        info.compression = compression;
        for (const std::string dtype : {"u8", "u16", "i16", "i32", "f32"}) {
          info.dtype = dtype;
          info.nodata = dtype == "u8" ? 255 : -3.4e38;
          const fs::path path = folder_ / "image.tif";
          if (dtype == "u8")
            write(path, info, ramp<uint8_t>(info), 1 + width % 7);
          else if (dtype == "u16")
            write(path, info, ramp<uint16_t>(info), 7);
          else if (dtype == "i16")
            write(path, info, ramp<int16_t>(info), 300);
          else if (dtype == "i32")
            write(path, info, ramp<int32_t>(info), 300);
          else
            write(path, info, ramp<float>(info), 300);
          const TiffReader reader(path);
          EXPECT_EQ(reader.info().geo, info.geo);
          EXPECT_EQ(reader.info().nodata, info.nodata);
          EXPECT_EQ(reader.info().dtype, dtype);
          EXPECT_EQ(reader.info().tiled, tiled);
          EXPECT_EQ(reader.info().compression, compression);
          EXPECT_EQ(reader.info().bands, bands);
          EXPECT_EQ(reader.read(0, 0, info.height, info.width), ramp<float>(info));
        }
      }
    }
  }
}

TEST_F(TiffWriterTest, KeepsPaletteNotANumberAndNames) {
  TiffInfo info{4, 3};
  info.palette = {{0, 0, 0}, {255, 1, 2}, {3, 4, 128}};
  info.nodata = std::numeric_limits<double>::quiet_NaN();
  write(folder_ / "classes.tif", info, ramp<uint8_t>(info), 2);
  const TiffReader reader(folder_ / "classes.tif");
  ASSERT_EQ(reader.info().palette.size(), 256u);
  EXPECT_EQ(reader.info().palette[2], info.palette[2]);
  EXPECT_TRUE(std::isnan(*reader.info().nodata));
}

TEST_F(TiffWriterTest, GivesEqualBytesForEqualImages) {
  TiffInfo info{300, 270, 2};
  info.tiled = true;
  write(folder_ / "a.tif", info, ramp<uint8_t>(info), 1);
  write(folder_ / "b.tif", info, ramp<uint8_t>(info), 270);
  EXPECT_EQ(read_file(folder_ / "a.tif"), read_file(folder_ / "b.tif"));
}

// Offsets of classic TIFF have 32 bits. Its header has the number 42, BigTIFF's has 43.
TEST_F(TiffWriterTest, TakesTheLargeFormatBeyondThirtyNineHundredMillionBytes) {
  const auto magic_number = [&](const TiffInfo& info) {
    const TiffWriter writer(folder_ / "image.tif", info);
    EXPECT_EQ(files(), 1u);
    const std::string bytes = read_file(fs::directory_iterator(folder_)->path());
    EXPECT_GE(bytes.size(), 4u);
    return static_cast<int>(bytes.at(2)) + 256 * static_cast<int>(bytes.at(3));
  };
  TiffInfo info;
  info.width = 39000;
  info.height = 100000;
  EXPECT_EQ(magic_number(info), 42);
  info.height = 100001;
  EXPECT_EQ(magic_number(info), 43);
  info.width = 9750;
  EXPECT_EQ(magic_number(info), 42);
  info.dtype = "f32";
  EXPECT_EQ(magic_number(info), 43);
}

TEST_F(TiffWriterTest, AppearsWhenClosedAndLeavesNothingOtherwise) {
  const fs::path path = folder_ / "image.tif";
  write_file_atomically(path, std::string_view("old"));
  TiffInfo info{3, 2};
  const std::vector<uint8_t> rows = ramp<uint8_t>(info);
  {
    TiffWriter writer(path, info);
    writer.write_rows(0, std::span(rows));
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(files(), 2u);
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(files(), 1u);
  write(path, info, rows, 1);
  EXPECT_EQ(TiffReader(path).info().width, 3);
  EXPECT_EQ(files(), 1u);
}

TEST_F(TiffWriterTest, SaysWhyItCannotWrite) {
  TiffInfo info{1000, 1000};
  info.compression = "none";
  try {
    TiffWriter(folder_ / "nowhere" / "image.tif", info);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cannot_create) << error.what();
  }
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const fs::path path = folder_ / "image.tif";
  for (const rlim_t max_bytes :
       {3, 10000, 1000100}) {  // in the header, in the pixels, in the directory after them
    const rlimit small{max_bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string message = error_of(ErrorKind::io, [&] { write(path, info, ramp<uint8_t>(info), 100); });
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(message, "cannot write " + path.string() + ": File too large") << max_bytes;
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(TiffWriterTest, RefusesWhatTheCallerGetsWrong) {
  const fs::path path = folder_ / "image.tif";
  TiffInfo info{3, 2};
  const std::vector<uint8_t> rows = ramp<uint8_t>(info);
  const std::vector<float> floats = ramp<float>(info);
  {
    TiffWriter writer(path, info);
    EXPECT_EQ(error_of(ErrorKind::internal, [&] { writer.write_rows(1, std::span(rows)); }),
              "TiffWriter: 6 bytes from row 1 do not continue at row 0 of 2 x 3 x 1");
    EXPECT_EQ(error_of(ErrorKind::internal, [&] { writer.write_rows(0, std::span(rows).first(4)); }),
              "TiffWriter: 4 bytes from row 0 do not continue at row 0 of 2 x 3 x 1");
    EXPECT_EQ(error_of(ErrorKind::internal, [&] { writer.write_rows(0, std::span(floats)); }),
              "TiffWriter: " + path.string() + " holds u8, got f32");
    EXPECT_EQ(error_of(ErrorKind::internal, [&] { writer.close(); }),
              "TiffWriter: 0 of 2 rows of " + path.string() + " were written");
    writer.write_rows(0, std::span(rows));
    EXPECT_EQ(error_of(ErrorKind::internal, [&] { writer.write_rows(2, std::span(rows)); }),
              "TiffWriter: 6 bytes from row 2 do not continue at row 2 of 2 x 3 x 1");
    writer.close();
    EXPECT_EQ(error_of(ErrorKind::internal, [&] { writer.write_rows(0, std::span(rows)); }),
              "TiffWriter: " + path.string() + " is closed");
  }
  const auto refused = [&](auto change) {
    TiffInfo wanted = info;
    change(wanted);
    return error_of(ErrorKind::internal, [&] { TiffWriter(path, wanted); });
  };
  EXPECT_EQ(refused([](TiffInfo& wanted) { wanted.dtype = "u32"; }),
            "TiffWriter: dtype must be u8, u16, i16, i32 or f32, got u32");
  EXPECT_EQ(refused([](TiffInfo& wanted) { wanted.width = 0; }),
            "TiffWriter: an image of 2 x 0 x 1 cannot be written");
  EXPECT_EQ(refused([](TiffInfo& wanted) { wanted.bands = 65536; }),
            "TiffWriter: an image of 2 x 3 x 65536 cannot be written");
  EXPECT_EQ(refused([](TiffInfo& wanted) { wanted.compression = "jpeg"; }),
            "TiffWriter: compression must be none, lzw or deflate, got jpeg");
  EXPECT_EQ(refused([](TiffInfo& wanted) {
              wanted.palette = {{1, 2, 3}}, wanted.bands = 2;
            }),
            "TiffWriter: 1 colours need one band of u8, got 2 of u8");
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace modewise::io
