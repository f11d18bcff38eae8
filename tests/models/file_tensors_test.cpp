#include "modewise/models/file_tensors.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace modewise::models {
namespace {

// -1.5, 0, 65504 (the largest float16) and 2^-24 (the smallest) in their bytes, little endian.
TEST(FileTensors, ElementsOfEveryDtypeAreRead) {
  const auto read = [](const std::string& dtype, const auto& bits) {
    at::Tensor values = at::zeros({2, 2}, at::kDouble);
    copy_view({.name = "x", .dtype = dtype, .shape = {2, 2}, .bytes = std::as_bytes(std::span(bits))},
              values);
    return std::vector<double>(values.data_ptr<double>(), values.data_ptr<double>() + 4);
  };
  const std::vector<double> expected{-1.5, 0, 65504, 0x1p-24};
  EXPECT_EQ(read("F16", std::array<uint16_t, 4>{0xBE00, 0, 0x7BFF, 1}), expected);
  EXPECT_EQ(read("F32", std::array<uint32_t, 4>{0xBFC00000, 0, 0x477FE000, 0x33800000}), expected);
  EXPECT_EQ(
      read("F64", std::array<uint64_t, 4>{0xBFF8000000000000, 0, 0x40EFFC0000000000, 0x3E70000000000000}),
      expected);
  EXPECT_EQ(read("BF16", std::array<uint16_t, 4>{0xBFC0, 0, 0x4780, 0x3380}),
            (std::vector<double>{-1.5, 0, 65536, 0x1p-24}));
  for (const char* dtype : {"F8_E4M3", "I64", "f16", ""}) EXPECT_FALSE(float_type(dtype)) << dtype;
}

// Three chunks, the last one not full.
TEST(FileTensors, LargeTensorsAreReadAndWrittenInChunks) {
  const int64_t count = (int64_t{2} << 20) + 3;
  const at::Tensor values = at::arange(count, at::kInt).bitwise_and(1023).to(at::kFloat);
  std::vector<std::byte> bytes;
  give_bytes(values.view({1, count}), at::kHalf,
             [&](std::span<const std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  ASSERT_EQ(bytes.size(), 2 * count);
  const at::Tensor again = at::empty({count});
  copy_view({.name = "x", .dtype = "F16", .shape = {count}, .bytes = bytes}, again);
  EXPECT_TRUE(at::equal(again, values));
}

}  // namespace
}  // namespace modewise::models
