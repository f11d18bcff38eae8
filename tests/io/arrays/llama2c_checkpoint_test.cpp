#include "modewise/io/arrays/llama2c_checkpoint.h"

#include <cstring>

#include "modewise/io/mapped_file.h"
#include "tests/data_folder.h"
#include "tests/error_of.h"
#include "tests/io/allocation_meter.h"
#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

void try_llama2c(std::span<const std::byte> bytes) {
  parse_llama2c(bytes, "file");
}

std::string file_of(const nlohmann::json& test) {
  return to_text(from_hex(test["file"]));
}

std::vector<float> floats(std::span<const std::byte> bytes) {
  std::vector<float> out(bytes.size() / 4);
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

/// The file with int32 `value` at `offset`.
std::string with_int(std::string file, size_t offset, int32_t value) {
  std::memcpy(file.data() + offset, &value, 4);
  return file;
}

TEST(Llama2c, ReadsBothLayouts) {
  for (const auto& test : load_vectors("llama2c.json")) {
    const std::vector<std::byte> bytes = from_hex(test["file"]);
    const Llama2cCheckpoint found = parse_llama2c(bytes, "file");
    EXPECT_EQ(found.header.version, test["version"].get<int>());
    EXPECT_EQ(found.header.tied, test["tied"].get<bool>());
    EXPECT_EQ(found.header.width, 4);
    EXPECT_EQ(found.header.hidden, 3);
    EXPECT_EQ(found.header.layers, 2);
    EXPECT_EQ(found.header.heads, 2);
    EXPECT_EQ(found.header.kv_heads, 1);
    EXPECT_EQ(found.header.vocabulary, 5);
    EXPECT_EQ(found.header.context, 3);
    const std::map<std::string, std::span<const std::byte> Llama2cWeights::*> parts = {
        {"embedding", &Llama2cWeights::embedding},
        {"attention_norm", &Llama2cWeights::attention_norm},
        {"feed_norm", &Llama2cWeights::feed_norm},
        {"query", &Llama2cWeights::query},
        {"key", &Llama2cWeights::key},
        {"value", &Llama2cWeights::value},
        {"out", &Llama2cWeights::out},
        {"gate", &Llama2cWeights::gate},
        {"down", &Llama2cWeights::down},
        {"up", &Llama2cWeights::up},
        {"final_norm", &Llama2cWeights::final_norm},
        {"classifier", &Llama2cWeights::classifier}};
    for (const auto& [name, part] : parts) {
      const auto wanted = test["weights"].contains(name) ? test["weights"][name].get<std::vector<float>>()
                                                         : std::vector<float>();
      EXPECT_EQ(floats(found.weights.*part), wanted) << name;
    }
  }
}

TEST(Llama2c, WritesTheBytesItRead) {
  for (const auto& test : load_vectors("llama2c.json")) {
    const std::vector<std::byte> bytes = from_hex(test["file"]);
    EXPECT_EQ(format_llama2c(parse_llama2c(bytes, "file")), to_text(bytes));
  }
}

TEST(Llama2c, EveryTruncationIsASentence) {
  for (const auto& test : load_vectors("llama2c.json"))
    expect_every_truncation_fails(try_llama2c, file_of(test));
}

TEST(Llama2c, FlippedBitsAreClean) {
  for (const auto& test : load_vectors("llama2c.json")) expect_flips_are_clean(try_llama2c, file_of(test));
}

TEST(Llama2c, LyingHeadersAreNamed) {
  const auto tests = load_vectors("llama2c.json");
  const std::string legacy = file_of(tests[0]), versioned = file_of(tests[2]);
  expect_refused(
      try_llama2c,
      {{"empty", "", "file: not a llama2.c checkpoint: 0 bytes are fewer than the 28 of its header"},
       {"text", std::string(300, 'x'),
        "file: the width 2021161080 cannot be split into 2021161080 heads of an even width"},
       {"negative width", with_int(legacy, 0, -4),
        "file: not a llama2.c checkpoint: its width is -4, which is not positive, and its first bytes are "
        "not the magic number ak42"},
       {"no layers", with_int(legacy, 8, 0),
        "file: not a llama2.c checkpoint: its number of layers is 0, which is not positive, and its first "
        "bytes are not the magic number ak42"},
       {"negative context", with_int(legacy, 24, -1),
        "file: not a llama2.c checkpoint: its context length is -1, which is not positive, and its first "
        "bytes are not the magic number ak42"},
       {"zero vocabulary", with_int(legacy, 20, 0),
        "file: not a llama2.c checkpoint: its vocabulary is 0, which is not positive, and its first bytes "
        "are not the magic number ak42"},
       {"smallest vocabulary", with_int(legacy, 20, INT32_MIN),
        "file: a vocabulary of -2147483648 has no positive counterpart"},
       {"untied without classifier", with_int(legacy, 20, -5),
        "file: the sizes in its header (width 4, feed-forward 3, 2 layers, 2 heads, 1 key and value heads, "
        "vocabulary 5, context 3) need 964 bytes, but the file has 884: it is truncated, or not a llama2.c "
        "checkpoint"},
       {"heads beyond width", with_int(legacy, 12, 3),
        "file: the width 4 cannot be split into 3 heads of an even width"},
       {"odd heads", with_int(legacy, 12, 4),
        "file: the width 4 cannot be split into 4 heads of an even width"},
       {"more key heads than heads", with_int(legacy, 16, 4),
        "file: 4 key and value heads do not divide 2 heads"},
       {"wider", with_int(legacy, 4, 4),
        "file: the sizes in its header (width 4, feed-forward 4, 2 layers, 2 heads, 1 key and value heads, "
        "vocabulary 5, context 3) need 980 bytes, but the file has 884: it is truncated, or not a llama2.c "
        "checkpoint"},
       {"narrower", with_int(legacy, 4, 2),
        "file: the sizes in its header (width 4, feed-forward 2, 2 layers, 2 heads, 1 key and value heads, "
        "vocabulary 5, context 3) need 788 bytes, but the file has 884: it has trailing bytes"},
       {"all sizes at their largest",
        [&] {
          std::string file = legacy;
          for (size_t i = 0; i < 28; i += 4)
            file = with_int(file, i, i == 0 ? 2147483646 : i == 12 || i == 16 ? 1 : INT32_MAX);
          return file;
        }(),
        "file: the sizes in its header (width 2147483646, feed-forward 2147483647, 2147483647 layers, 1 "
        "heads, 1 key and value heads, vocabulary 2147483647, context 2147483647) need 18446744073709551615 "
        "bytes, but the file has 884: it is truncated, or not a llama2.c checkpoint"},
       {"appended", legacy + "x",
        "file: the sizes in its header (width 4, feed-forward 3, 2 layers, 2 heads, 1 key and value heads, "
        "vocabulary 5, context 3) need 884 bytes, but the file has 885: it has trailing bytes"},
       {"version 2", with_int(versioned, 4, 2),
        "file: version 2 of llama2.c's checkpoints holds 8-bit weights, which are not supported; export the "
        "model as version 0 or 1"},
       {"version 3", with_int(versioned, 4, 3),
        "file: ak42 checkpoints of version 1 are supported, this is version 3"},
       {"shared flag", with_int(versioned, 36, 7),
        "file: the byte at offset 36 (shared classifier) must be 0 or 1, got 7"},
       {"magic backwards", with_int(versioned, 0, 0x32346b61),
        "file: the width 842296161 cannot be split into 3 heads of an even width"}});
}

TEST(Llama2c, RefusesToWriteWeightsOfAnotherSize) {
  const std::vector<std::byte> bytes = from_hex(load_vectors("llama2c.json")[0]["file"]);
  Llama2cCheckpoint checkpoint = parse_llama2c(bytes, "file");
  checkpoint.weights.query = checkpoint.weights.query.first(4);
  EXPECT_EQ(error_of(ErrorKind::data, [&] { format_llama2c(checkpoint); }),
            "the query weights of a llama2.c checkpoint take 128 bytes by its header, got 4");
  checkpoint.header.version = 2;
  EXPECT_EQ(error_of(ErrorKind::data, [&] { format_llama2c(checkpoint); }),
            "llama2.c checkpoints of version 2 are not written");
}

TEST(Llama2c, WritesNoTablesThatOnlyTheContextMakesLarge) {
  const std::vector<std::byte> file = from_hex(load_vectors("llama2c.json")[0]["file"]);
  Llama2cCheckpoint checkpoint = parse_llama2c(file, "file");
  checkpoint.header.version = 0;
  // One cosine and one sine per position at head width 2, four bytes each.
  checkpoint.header.context = (64 << 20) / 8;
  EXPECT_GE(format_llama2c(checkpoint).size(), size_t{64} << 20);
  checkpoint.header.context = 300'000'000;
  const AllocationMeter meter;
  try {
    format_llama2c(checkpoint);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_THAT(error.what(), testing::HasSubstr("300000000 positions take 2400000000 bytes"));
  }
  EXPECT_LT(meter.peak(), 1 << 20);
  checkpoint.header.version = 1;
  EXPECT_LT(format_llama2c(checkpoint).size(), file.size() + 256);
}

TEST(Llama2c, ReadsARealModel) {
  const std::string path = (data_folder() / "language" / "stories260K.bin").string();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const MappedFile file(path);
  const Llama2cCheckpoint found = parse_llama2c(file.bytes(), path);
  EXPECT_EQ(found.header.width, 64);
  EXPECT_EQ(found.header.kv_heads, 4);
  EXPECT_TRUE(found.header.tied);
  const std::string written = format_llama2c(found);
  ASSERT_EQ(written.size(), file.bytes().size());
  // The rotary tables, which are not read, may differ by rounding; everything else must be bit-identical.
  const size_t tables = size_t{512} * 8 * 4;
  EXPECT_EQ(std::memcmp(written.data(), file.bytes().data(), written.size() - tables), 0);
}

}  // namespace
}  // namespace modewise::io
