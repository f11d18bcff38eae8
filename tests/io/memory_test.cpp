// Memory of the readers: bounded by the size of their input, and no leaks or corruption if allocations fail.

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <new>

#include "modewise/core/toml_paths.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/io/arrays/safetensors.h"
#include "modewise/io/captions/coco_captions.h"
#include "modewise/io/gzip.h"
#include "modewise/io/images/nifti.h"
#include "modewise/io/images/tiff.h"
#include "modewise/io/numeric_text.h"
#include "modewise/io/tables/csv.h"
#include "tests/io/allocation_meter.h"
#include "tests/io/compress.h"
#include "tests/io/damage.h"
#include "tests/io/images/tiff_builder.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

void parse_table(std::span<const std::byte> bytes) {
  parse_csv(bytes, "file");
}
void parse_matrix(std::span<const std::byte> bytes) {
  parse_numeric_text(bytes, "file");
}
void parse_array(std::span<const std::byte> bytes) {
  parse_npy(bytes, "file");
}
void parse_archive(std::span<const std::byte> bytes) {
  parse_npz(bytes, "file");
}
void parse_tensors(std::span<const std::byte> bytes) {
  SafetensorsIndex(bytes, "file");
}
void parse_volume(std::span<const std::byte> bytes) {
  parse_nifti(bytes, "file");
}
void parse_captions(std::span<const std::byte> bytes) {
  parse_coco_captions(bytes, "file");
}
void parse_results(std::span<const std::byte> bytes) {
  parse_coco_results(bytes, "file");
}
void parse_gzip(std::span<const std::byte> bytes) {
  gunzip(bytes, "file", 1 << 20);
}
void parse_image(std::span<const std::byte> bytes) {
  const TiffReader reader(bytes, "file");
  reader.read(0, 0, 1, 1);
}

// Peak memory of `parse`, whether it succeeds or refuses.
int64_t peak_of(const Parse& parse, const std::string& content) {
  const std::vector<std::byte> bytes = to_bytes(content);
  const AllocationMeter meter;
  try {
    parse(bytes);
  } catch (const Error&) {
  }
  return meter.peak();
}

std::string repeated(std::string_view piece, size_t bytes) {
  std::string text;
  text.reserve(bytes + piece.size());
  while (text.size() < bytes) text += piece;
  return text;
}

void expect_bounded(const Parse& parse, const std::string& content, const std::string& what) {
  EXPECT_LE(peak_of(parse, content), 2 * static_cast<int64_t>(content.size()) + 64 * kMiB) << what;
}

TEST(Memory, IsBoundedForTables) {
  const size_t size = kLarge;
  expect_bounded(parse_table, "date,a,b,c\n" + repeated("2016-07-01 00:00:00,1.25,-3.5,0.75\n", size),
                 "numbers");
  expect_bounded(parse_table, repeated("1,2,3\n", size), "digits");
  expect_bounded(parse_table, repeated("0.5,-2,.1\n", size), "short decimals");
  expect_bounded(parse_table, "wd,x\n" + repeated("NNW,12.5\n", size), "text");
  expect_bounded(parse_table, "t\n" + repeated("ab\n", size), "short text");
  expect_bounded(parse_table, repeated(",", size), "commas");
  expect_bounded(parse_table, repeated("x,", size), "a wide header");
  expect_bounded(parse_table, repeated("\n", size), "line ends");
  expect_bounded(parse_table, repeated("\n", size) + "1,2", "line ends before the first row");
  expect_bounded(parse_table, repeated("\"", size), "quotes");
  expect_bounded(parse_table, "\"" + repeated("\"\"", size), "doubled quotes");
  expect_bounded(parse_table, "\"" + repeated("\n", size), "one open quote");
  expect_bounded(parse_table, repeated("x", size), "one long word");
  expect_bounded(parse_table, "a\n1\n2\n" + repeated("x", size), "one long word in a number column");
  const std::string cell = std::string(100, '0') + "7\n";
  expect_bounded(parse_table, "x\n" + repeated(cell, size / 4), "long numbers");
  expect_bounded(parse_table, repeated("x", 1000) + "\n" + repeated("5\n,", size), "ragged rows");
  std::string wide = "c";
  for (int column = 0; column < 1000; ++column) wide += ",c" + std::to_string(column);
  expect_bounded(parse_table, wide + "\n" + repeated("5\n", size / 64), "short rows below a wide header");
}

TEST(Memory, IsBoundedForMatrices) {
  const size_t size = kLarge;
  expect_bounded(parse_matrix, repeated("0.7855,1.611,0.861698\n", size), "numbers");
  expect_bounded(parse_matrix, repeated("1 2 3\n", size), "digits");
  expect_bounded(parse_matrix, repeated("1.5\t", size), "one row");
  expect_bounded(parse_matrix, repeated("\n", size), "line ends");
  expect_bounded(parse_matrix, "1,2\n" + repeated("\n", size), "line ends after a row");
}

TEST(Memory, IsBoundedForDeclaredSizes) {
  std::string array("\x93NUMPY\x01\x00\x46\x00", 10);
  array += "{'descr': '<f4', 'fortran_order': False, 'shape': (2500000000,)}      ";
  EXPECT_LT(peak_of(parse_array, array + std::string(900, 'x')), kMiB);

  const std::vector<uint8_t> one = {1};
  std::string archive = format_npz({{"a", make_array({1}, std::span(one))}}, true);
  const size_t entry = archive.find("PK\x01\x02");
  archive.replace(entry + 24, 4, "\xFE\xFF\xFF\xFF");
  EXPECT_LT(peak_of(parse_archive, archive), kMiB);
}

TEST(Memory, IsBoundedForHeadersOfTensors) {
  const auto file_with = [](const std::string& header) {
    std::string file(8, '\0');
    const uint64_t length = header.size();
    std::memcpy(file.data(), &length, 8);
    return file + header;
  };
  const size_t size = kLarge;
  expect_bounded(parse_tensors, file_with(repeated("{", size)), "braces");
  expect_bounded(parse_tensors, file_with("{\"" + repeated("{", size)), "braces in a name");
  expect_bounded(parse_tensors, file_with("{\"a\":{\"shape\":[" + repeated("1,", size)), "one shape");
  expect_bounded(parse_tensors, file_with("{\"" + repeated("\\n", size) + "\":{\"shape\":["), "escapes");
  std::string metadata = "{\"__metadata__\":{", tensors = "{";
  for (int i = 0; metadata.size() < size; ++i) metadata += (i ? ",\"" : "\"") + std::to_string(i) + "\":\"\"";
  expect_bounded(parse_tensors, file_with(metadata + "}}"), "metadata");
  for (int i = 0; tensors.size() < size; ++i) {
    tensors +=
        (i ? ",\"" : "\"") + std::to_string(i) + "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  }
  expect_bounded(parse_tensors, file_with(tensors + "}"), "tensors");
}

TEST(Memory, IsBoundedForCaptions) {
  const size_t size = kLarge;
  const auto list = [&](const std::string& entry) { return "[" + entry + repeated("," + entry, size) + "]"; };
  expect_bounded(parse_results, list(R"({"image_id":1,"caption":""})"), "empty captions");
  expect_bounded(parse_results, list("1"), "numbers");
  expect_bounded(parse_results, "[\"" + repeated("x", size), "one long text");
  expect_bounded(parse_captions, R"({"annotations":[],"images":)" + list(R"({"id":1,"file_name":""})") + "}",
                 "images");
}

TEST(Memory, IsBoundedForCompressedContent) {
  const std::string zeros(size_t{64} << 20, '\0'), bomb = gzip_of(zeros);
  EXPECT_LT(peak_of(parse_gzip, bomb), kMiB);
  // A declared volume of 2,000 × 2,000 × 200 floats, and one with 64 MiB of extra content.
  std::string volume = to_text(from_hex(load_vectors("images.json")["nifti"][0]["file"]));
  EXPECT_LT(peak_of(parse_volume, gzip_of(volume + zeros)), kMiB);
  const std::array<int16_t, 8> large = {3, 2000, 2000, 200, 1, 1, 1, 1};
  std::memcpy(volume.data() + 40, large.data(), 16);
  EXPECT_LT(peak_of(parse_volume, volume), kMiB);
  EXPECT_LT(peak_of(parse_volume, gzip_of(volume)), kMiB);
  EXPECT_LT(peak_of(parse_volume, gzip_of(volume + zeros)), kMiB);
}

TEST(Memory, IsBoundedForDeclaredImages) {
  const TiffBuilder small = TiffBuilder::small();
  const TiffTag million{4, {1000000}};
  EXPECT_LT(peak_of(parse_image, small.with({{256, million}, {257, million}, {278, million}}).text()), kMiB);
  EXPECT_LT(peak_of(parse_image, small.with({{277, {3, {65535}}}}).text()), kMiB);
  EXPECT_LT(
      peak_of(parse_image, small.with({{259, {3, {8}}}, {257, {3, {2000}}}, {278, {3, {2000}}}}).text()),
      kMiB);
  // Zeros compressed to a thousandth, decoded one block at a time.
  TiffBuilder tiles = small.without(273).without(278).without(279);
  tiles.data = gzip_of(std::string(4096 * 4096, '\0'));
  tiles = tiles.with({{256, {3, {8192}}},
                      {257, {3, {8192}}},
                      {322, {3, {4096}}},
                      {323, {3, {4096}}},
                      {324, {4, {16, 16, 16, 16}}},
                      {325, {4, std::vector<uint64_t>(4, tiles.data.size())}}});
  tiles.tags[259] = {3, {8}};
  expect_bounded(parse_image, tiles.text(), "tiles");
  // Directories of 1,000 tags, and a text of 1 MiB.
  TiffBuilder many = small;
  for (uint16_t tag = 40000; tag < 41000; ++tag) many.tags[tag] = {3, {1, 2, 3}};
  many.tags[270] = text_tag(std::string(kMiB, 'x'));
  expect_bounded(parse_image, many.text(), "tags");
}

TEST(Memory, KeepsTheLatestBlocksOfImages) {
  // 9 tiles of 16 MiB, all of them the same zeros but for the first pixel.
  std::string tile(4096 * 4096, '\0');
  tile[0] = 3;
  TiffBuilder image = TiffBuilder::small().without(273).without(278).without(279);
  image.data = gzip_of(tile).substr(10);  // raw deflate data; zlib's header and checksum are added
  image.data.resize(image.data.size() - 8);
  const auto sum =
      static_cast<uint32_t>(adler32(1, reinterpret_cast<const Bytef*>(tile.data()), 4096 * 4096));
  image.data.insert(0, "\x78\x9c");
  for (int shift = 24; shift >= 0; shift -= 8) image.data += static_cast<char>(sum >> shift);
  image = image.with({{256, {3, {3 * 4096}}},
                      {257, {3, {3 * 4096}}},
                      {259, {3, {8}}},
                      {322, {3, {4096}}},
                      {323, {3, {4096}}},
                      {324, {4, std::vector<uint64_t>(9, TiffBuilder::kData)}},
                      {325, {4, std::vector<uint64_t>(9, image.data.size())}}});
  tile = {};
  const std::vector<std::byte> bytes = to_bytes(image.text());
  const AllocationMeter meter;
  const TiffReader reader(bytes, "file");
  ASSERT_EQ(reader.block_height(), 4096);
  ASSERT_EQ(reader.block_width(), 4096);
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int64_t row = 0; row < 3 * 4096; row += 4096) {
      for (int64_t column = 0; column < 3 * 4096; column += 4096) {
        EXPECT_EQ(reader.read(row, column, 1, 2), (std::vector<float>{3, 0}));
      }
    }
  }
  EXPECT_GT(meter.peak(), 60 * kMiB);
  EXPECT_LT(meter.peak(), 66 * kMiB);
}

// Makes the N-th allocation fail, for every N, until the reader succeeds.
void expect_clean_without_memory(const Parse& parse, const std::string& content) {
  const std::vector<std::byte> bytes = to_bytes(content);
  for (int64_t n = 0; n < 100'000; ++n) {
    std::string said = "out of memory";
    bool happened = false;
    {
      const AllocationFailure failure(n);
      try {
        parse(bytes);
      } catch (const std::bad_alloc&) {
      } catch (const Error& error) {
        if (failure.happened()) said = error.what();
      }
      happened = failure.happened();
    }
    EXPECT_THAT(said, testing::HasSubstr("out of memory"));
    if (!happened) {
      EXPECT_GT(n, 0);
      return;
    }
  }
  FAIL() << "still allocating";
}

TEST(Memory, IsBoundedForFilesOfTensors) {
  const std::vector<float> values(kLarge / 4, 1.5F);
  const auto bytes = std::as_bytes(std::span(values));
  const auto count = static_cast<int64_t>(values.size());
  const auto path = std::filesystem::path(testing::TempDir()) / "large.safetensors";
  int64_t peak = 0;
  {
    const AllocationMeter meter;
    write_safetensors(
        path, std::vector<TensorView>{{"a", "F32", {count / 8, 8}, bytes}, {"b", "I32", {count}, bytes}});
    peak = meter.peak();
  }
  EXPECT_LT(peak, kMiB);
  EXPECT_GT(std::filesystem::file_size(path), 2 * bytes.size());
  std::filesystem::remove(path);
}

TEST(Memory, RunsOutCleanlyAtEveryAllocation) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Array array = make_array({2, 3}, std::span(values));
  expect_clean_without_memory(parse_table,
                              "date,\"a \"\"x\"\"\",wd\n2016-07-01,1.5,\"N,\nW\"\n2016-07-02,NA,NE\n");
  expect_clean_without_memory(parse_table, "x,y\n1,2\n1,z\n2,3\n");
  expect_clean_without_memory(parse_matrix, "1,2,3\n4,5,6\n");
  expect_clean_without_memory(parse_array, format_npy(array));
  expect_clean_without_memory(parse_archive, format_npz({{"a", array}, {"b", array}}, true));
  const std::string tensors = format_safetensors(
      std::vector<TensorView>{{"a\"", "F32", {2, 3}, array.bytes}, {"b", "U8", {24}, array.bytes}},
      {{"k", "v"}});
  expect_clean_without_memory(parse_tensors, tensors);
  const auto images = load_vectors("images.json");
  for (const auto& test : images["nifti"]) {
    expect_clean_without_memory(parse_volume, to_text(from_hex(test["file"])));
  }
  for (const auto& test : images["tiff"]) {
    expect_clean_without_memory(parse_image, to_text(from_hex(test["file"])));
  }
  expect_clean_without_memory(parse_gzip, gzip_of("content"));
  expect_clean_without_memory(
      parse_captions,
      R"({"images": [{"id": 1, "file_name": "a"}], "annotations": [{"image_id": 1, "caption": "a\n"}]})");
  expect_clean_without_memory([](auto bytes) { toml_paths(to_text(bytes), "file"); },
                              "a = 1\nb = 'text'\n[c]\nd = [1, 2]\n");
  expect_clean_without_memory([&](auto) { format_npz({{"a", array}}, true); }, "");
}

}  // namespace
}  // namespace modewise::io
