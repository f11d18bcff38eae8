// Complete error messages of writers and readers of several files.

#include <array>
#include <filesystem>

#include "modewise/core/file.h"
#include "modewise/io/arrays/llama2c_checkpoint.h"
#include "modewise/io/arrays/npy.h"
#include "modewise/io/arrays/safetensors.h"
#include "modewise/io/arrays/safetensors_shards.h"
#include "modewise/io/arrays/zip_archive.h"
#include "modewise/io/images/tiff.h"
#include "tests/error_of.h"
#include "tests/io/damage.h"
#include "tests/io/images/tiff_builder.h"
#include "tests/io/vector_file.h"
#include "tests/scratch_folder.h"

namespace modewise::io {
namespace {

TEST(WriterSentences, OfTiff) {
  const ScratchFolder folder;
  const std::string path = folder.path("a.tif");
  TiffInfo info{3, 2};  // 3 wide, 2 high
  info.bands = 5;
  const std::vector<uint8_t> rows(30, 7);
  const std::vector<float> floats(30, 7);
  const auto refused = [&](const std::function<void()>& action) {
    return error_of(ErrorKind::internal, action);
  };
  {
    TiffWriter writer(path, info);
    EXPECT_EQ(refused([&] { writer.write_rows(1, std::span(rows)); }),
              "TiffWriter: 30 bytes from row 1 do not continue at row 0 of 2 x 3 x 5");
    EXPECT_EQ(refused([&] { writer.write_rows(0, std::span(rows).first(4)); }),
              "TiffWriter: 4 bytes from row 0 do not continue at row 0 of 2 x 3 x 5");
    EXPECT_EQ(refused([&] { writer.write_rows(0, std::span(floats)); }),
              "TiffWriter: " + path + " holds u8, got f32");
    writer.write_rows(0, std::span(rows).first(15));
    EXPECT_EQ(refused([&] { writer.close(); }).substr(0, 17), "TiffWriter: 0 of ");
    EXPECT_EQ(refused([&] { writer.write_rows(1, std::span(rows)); }),
              "TiffWriter: 30 bytes from row 1 do not continue at row 1 of 2 x 3 x 5");
    writer.write_rows(1, std::span(rows).first(15));
    writer.close();
    EXPECT_EQ(refused([&] { writer.write_rows(2, std::span(rows)); }), "TiffWriter: " + path + " is closed");
    EXPECT_EQ(refused([&] { writer.close(); }), "TiffWriter: 2 of 2 rows of " + path + " were written");
  }
  const auto of = [&](const std::function<void(TiffInfo&)>& change) {
    TiffInfo wanted{3, 2};
    change(wanted);
    return refused([&] { TiffWriter(path, wanted); });
  };
  EXPECT_EQ(of([](TiffInfo& i) { i.dtype = "u32"; }),
            "TiffWriter: dtype must be u8, u16, i16, i32 or f32, got u32");
  EXPECT_EQ(of([](TiffInfo& i) { i.compression = "jpeg"; }),
            "TiffWriter: compression must be none, lzw or deflate, got jpeg");
  EXPECT_EQ(of([](TiffInfo& i) { i.width = 0; }), "TiffWriter: an image of 2 x 0 x 1 cannot be written");
  EXPECT_EQ(of([](TiffInfo& i) { i.height = 0; }), "TiffWriter: an image of 0 x 3 x 1 cannot be written");
  EXPECT_EQ(of([](TiffInfo& i) { i.bands = 0; }), "TiffWriter: an image of 2 x 3 x 0 cannot be written");
  EXPECT_EQ(of([](TiffInfo& i) { i.bands = 65536; }),
            "TiffWriter: an image of 2 x 3 x 65536 cannot be written");
  EXPECT_EQ(of([](TiffInfo& i) { i.width = int64_t{1} << 31; }),
            "TiffWriter: an image of 2 x 2147483648 x 1 cannot be written");
  EXPECT_EQ(of([](TiffInfo& i) { i.height = int64_t{1} << 31; }),
            "TiffWriter: an image of 2147483648 x 3 x 1 cannot be written");
  const std::array<uint8_t, 3> red = {255, 0, 0};
  EXPECT_EQ(of([&](TiffInfo& i) { i.palette = {red}, i.bands = 2; }),
            "TiffWriter: 1 colours need one band of u8, got 2 of u8");
  EXPECT_EQ(of([&](TiffInfo& i) {
              i.palette = {red, red}, i.dtype = "f32";
            }),
            "TiffWriter: 2 colours need one band of u8, got 1 of f32");
  EXPECT_EQ(of([&](TiffInfo& i) { i.palette.assign(257, red); }),
            "TiffWriter: 257 colours need one band of u8, got 1 of u8");
  EXPECT_EQ(error_of(ErrorKind::cannot_create,
                     [] {
                       TiffWriter("/dev/null", TiffInfo{3, 2});
                     }),
            "cannot write an image to /dev/null: expected a file, got a device, pipe or descriptor");
}

TEST(ReaderSentences, OfTiffWindows) {
  const std::vector<std::byte> file = to_bytes(TiffBuilder::small().text());  // 3 wide, 2 high
  const TiffReader reader(file, "file");
  const auto window = [&](int64_t row, int64_t column, int64_t height, int64_t width) {
    return error_of(ErrorKind::internal, [&] { reader.read(row, column, height, width); });
  };
  EXPECT_EQ(window(0, -1, 1, 2), "file: a window of 1 x 2 at row 0, column -1 is not inside 2 x 3 pixels");
  EXPECT_EQ(window(0, 1, 2, 3), "file: a window of 2 x 3 at row 0, column 1 is not inside 2 x 3 pixels");
  EXPECT_EQ(window(1, 0, 2, 3), "file: a window of 2 x 3 at row 1, column 0 is not inside 2 x 3 pixels");
  std::vector<float> out(5);
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { reader.read(0, 0, 2, 3, out); }),
            "file: a window of 2 x 3 x 1 does not match 5 values");
}

TEST(WriterSentences, OfArrays) {
  const std::vector<float> values = {1, 2, 3};
  EXPECT_EQ(error_of(ErrorKind::internal,
                     [&] {
                       make_array({2, 4}, std::span(values));
                     }),
            "make_array: a shape of 8 elements does not hold 3 values");
  Array array{Array::f32, {2}, std::vector<std::byte>(9)};
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { format_npy(array); }),
            "format_npy: 2 elements of float32 are not 9 bytes");
  array = {Array::u8, std::vector<int64_t>(30000, 1), std::vector<std::byte>(1)};
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { format_npy(array); }),
            "format_npy: 30000 dimensions are too many");
  ZipWriter writer(false);
  writer.add(std::string(65535, 'x'), "");
  EXPECT_EQ(error_of(ErrorKind::data, [&] { writer.add(std::string(65536, 'x'), ""); }),
            "a name of 65536 bytes is too long for an archive");
}

TEST(WriterSentences, OfSafetensors) {
  const std::vector<std::byte> data = to_bytes("12345678");
  const auto refused = [&](const std::vector<TensorView>& tensors) {
    return error_of(ErrorKind::data, [&] { format_safetensors(tensors); });
  };
  EXPECT_EQ(refused({{"a", "F31", {2}, data}}), "tensor 'a': unknown safetensors dtype 'F31'");
  EXPECT_EQ(refused({{"a", "F32", {3, 5}, data}}),
            "tensor 'a': F32 of shape [3, 5] takes 480 bits, but 8 bytes were given");
  EXPECT_EQ(refused({{"a", "F32", {-2, 4}, data}}), "tensor 'a': the shape [-2, 4] has no size");
  EXPECT_EQ(refused({{"a", "F32", {int64_t{1} << 62, 4}, data}}),
            "tensor 'a': the shape [4611686018427387904, 4] has no size");
  EXPECT_EQ(refused({{"__metadata__", "F32", {2}, data}}),
            "'__metadata__' is not allowed as a tensor name in safetensors");
  EXPECT_EQ(refused({{"\xFF", "F32", {2}, data}}), "a safetensors header can hold only UTF-8, got '\\xff'");
  EXPECT_EQ(refused({{"a", "F32", {2}, data}, {"a", "U8", {8}, data}}), "duplicate tensor name 'a'");
  EXPECT_EQ(error_of(ErrorKind::internal,
                     [&] {
                       const SafetensorsWriter writer(
                           {{"b", "U8", {2, 3}, [&](const ByteSink& sink) { sink(std::span(data)); }}});
                       writer.write([](std::span<const std::byte>) {});
                     }),
            "tensor 'b': U8 of shape [2, 3] takes 6 bytes, got 8");
}

TEST(ReaderSentences, OfShards) {
  const ScratchFolder folder;
  const std::string here = folder.path().string(), index = folder.path("model.safetensors.index.json");
  const std::vector<std::byte> data = to_bytes("12345678");
  const auto refused = [&](ErrorKind kind) {
    return error_of(kind, [&] { const SafetensorsFolder opened(folder.path()); });
  };
  const auto shard = [&](const char* file, const std::vector<const char*>& names) {
    std::vector<TensorView> tensors;
    for (const char* name : names) tensors.push_back({name, "U8", {8}, data});
    write_safetensors(folder.path(file), tensors);
  };
  EXPECT_EQ(refused(ErrorKind::no_input),
            here + " holds neither model.safetensors nor model.safetensors.index.json");
  folder.write("model.safetensors.index.json", R"({"weight_map": {"a": "x", "b": "y"}})");
  EXPECT_EQ(refused(ErrorKind::no_input), index + " names the shard x, which is not in " + here);
  shard("x", {"a"});
  shard("y", {"b", "c"});
  EXPECT_EQ(refused(ErrorKind::data), here + "/y holds the tensor 'c', which is not in " + index);
  shard("y", {"a", "b"});
  EXPECT_EQ(refused(ErrorKind::data), here + "/y holds the tensor 'a', but " + index + " maps it to x");
  shard("y", {});
  EXPECT_EQ(refused(ErrorKind::data), index + " maps the tensor 'b' to y, which does not hold it");
}

TEST(WriterSentences, OfLlama2c) {
  const std::vector<std::byte> bytes = from_hex(load_vectors("llama2c.json")[0]["file"]);
  Llama2cCheckpoint checkpoint = parse_llama2c(bytes, "file");
  const auto refused = [&] { return error_of(ErrorKind::data, [&] { format_llama2c(checkpoint); }); };
  const size_t whole = checkpoint.weights.query.size_bytes();
  checkpoint.weights.query = checkpoint.weights.query.first(4);
  EXPECT_EQ(refused(), "the query weights of a llama2.c checkpoint take " + std::to_string(whole) +
                           " bytes by its header, got " +
                           std::to_string(checkpoint.weights.query.size_bytes()));
  checkpoint.header.version = 2;
  EXPECT_EQ(refused(), "llama2.c checkpoints of version 2 are not written");
}

}  // namespace
}  // namespace modewise::io
