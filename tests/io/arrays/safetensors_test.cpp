#include "modewise/io/arrays/safetensors.h"

#include <cstring>
#include <ctime>
#include <filesystem>

#include "modewise/core/file.h"
#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

void parse(std::span<const std::byte> bytes) {
  SafetensorsIndex(bytes, "file").tensors();
}

std::string file_with(const std::string& header, size_t data_bytes) {
  std::string file(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  return file + header + std::string(data_bytes, '\1');
}

std::string file_with_length(uint64_t length, const std::string& rest) {
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + rest;
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
         "}";
}

std::string small_file() {
  return file_with("{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "I8", "[1,3]", "[8,11]") + "}",
                   11);
}

TEST(Safetensors, ReadsWhatTheReferenceWrote) {
  for (const auto& test : load_vectors("safetensors.json")) {
    const std::string name = test["name"];
    const std::vector<std::byte> file = from_hex(test["file"]);
    const SafetensorsIndex index(file, name);
    EXPECT_EQ(index.metadata(), (test["metadata"].get<std::map<std::string, std::string>>())) << name;
    EXPECT_EQ(index.size(), test["tensors"].size()) << name;
    for (const auto& [key, tensor] : test["tensors"].items()) {
      const auto found = index.find(key);
      ASSERT_TRUE(found) << name << " " << key;
      EXPECT_EQ(found->name, key);
      EXPECT_EQ(found->shape, tensor["shape"].get<std::vector<int64_t>>());
      EXPECT_EQ(std::vector<std::byte>(found->bytes.begin(), found->bytes.end()), from_hex(tensor["bytes"]));
    }
    EXPECT_FALSE(index.find("no such tensor"));
  }
}

TEST(Safetensors, WritesTheSameBytesAsTheReference) {
  for (const auto& test : load_vectors("safetensors.json")) {
    const std::vector<std::byte> file = from_hex(test["file"]);
    const SafetensorsIndex index(file, "file");
    EXPECT_EQ(to_bytes(format_safetensors(index.tensors(), index.metadata())), file) << test["name"];
  }
}

TEST(Safetensors, AcceptsJsonFreedoms) {
  EXPECT_EQ(message_of(parse, file_with("{}", 0)), "");
  EXPECT_EQ(message_of(parse, file_with("{}      ", 0)), "");
  EXPECT_EQ(
      message_of(
          parse,
          file_with("{ \"a\" :\n{\"data_offsets\" : [ 0 , 4 ] ,\t\"shape\":[ ],\"dtype\":\"F32\"} } ", 4)),
      "");
  EXPECT_EQ(message_of(parse, file_with("{" + entry("b", "U8", "[2]", "[2,4]") + "," +
                                            entry("a", "U8", "[2]", "[0,2]") + "}",
                                        4)),
            "");
  EXPECT_EQ(message_of(parse, file_with("{" + entry("a", "F4", "[2]", "[0,1]") + "}", 1)), "");
  EXPECT_EQ(message_of(parse, file_with("{" + entry("\\ud83d\\ude00\\u0041", "U8", "[1]", "[0,1]") + "}", 1)),
            "");
}

TEST(Safetensors, RefusesCorruptions) {
  const std::string a = entry("a", "F32", "[2]", "[0,8]");
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets,
                      size_t bytes = 8) {
    return file_with("{" + entry("a", dtype, shape, offsets) + "}", bytes);
  };
  std::string trailing = small_file() + "x", zero_padding = file_with("{}" + std::string(2, '\0'), 0);
  const std::vector<Corruption> corruptions = {
      {"empty", "", "fewer than the 8"},
      {"seven bytes", "1234567", "fewer than the 8"},
      {"only a length", file_with_length(2, ""), "ends after 0"},
      {"length above the limit", file_with_length(100'000'001, "{}"), "at most 100000000"},
      {"length of 2^64-1", file_with_length(UINT64_MAX, "{}"), "at most"},
      {"length wraps", file_with_length(UINT64_MAX - 7, "{}"), "at most"},
      {"length beyond the file", file_with_length(3, "{}"), "ends after 2"},
      {"no header", file_with_length(0, ""), "must begin with '{'"},
      {"space first", file_with(" {}", 0), "must begin with '{'"},
      {"array", file_with("[]", 0), "must begin with '{'"},
      {"not UTF-8", file_with("{\"\xFF\":1}", 0), "not UTF-8 at byte 10"},
      {"overlong UTF-8", file_with("{\"\xC0\xAF\":1}", 0), "not UTF-8"},
      {"surrogate in UTF-8", file_with("{\"\xED\xA0\x80\":1}", 0), "not UTF-8"},
      {"zero padding", zero_padding, "only spaces"},
      {"newline padding", file_with("{}\n", 0), "only spaces"},
      {"second object", file_with("{}{}", 0), "only spaces"},
      {"unclosed", file_with("{" + a, 8), "'}' expected"},
      {"trailing comma", file_with("{" + a + ",}", 8), "a string expected"},
      {"two commas", file_with("{" + a + ",," + entry("b", "U8", "[0]", "[8,8]") + "}", 8),
       "a string expected"},
      {"no comma", file_with("{" + a + entry("b", "U8", "[0]", "[8,8]") + "}", 8), "'}' expected"},
      {"no colon", file_with("{\"a\"{}}", 0), "':' expected"},
      {"entry is a number", file_with("{\"a\":1}", 0), "start of a tensor's entry"},
      {"empty entry", file_with("{\"a\":{}}", 0), "a string expected"},
      {"unclosed string", file_with("{\"a", 0), "does not end"},
      {"backslash at the end", file_with("{\"a\\", 0), "does not end"},
      {"control character", file_with("{\"a\n\":1}", 0), "control character"},
      {"unknown escape", file_with("{" + entry("\\x", "U8", "[1]", "[0,1]") + "}", 1), "unknown escape"},
      {"short \\u", file_with("{" + entry("\\u12", "U8", "[1]", "[0,1]") + "}", 1), "four hexadecimal"},
      {"lone high surrogate", file_with("{" + entry("\\ud800", "U8", "[1]", "[0,1]") + "}", 1),
       "high surrogate"},
      {"high without low", file_with("{" + entry("\\ud800\\u0041", "U8", "[1]", "[0,1]") + "}", 1),
       "high surrogate"},
      {"lone low surrogate", file_with("{" + entry("\\udc00", "U8", "[1]", "[0,1]") + "}", 1),
       "low surrogate"},
      {"name twice",
       file_with("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("a", "U8", "[1]", "[1,2]") + "}", 2),
       "stands twice"},
      {"name twice, once escaped",
       file_with("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("\\u0061", "U8", "[1]", "[1,2]") + "}",
                 2),
       "stands twice"},
      {"no dtype", file_with("{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8), "needs dtype, shape"},
      {"no shape", file_with("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8), "needs dtype, shape"},
      {"no offsets", file_with("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8), "needs dtype, shape"},
      {"dtype twice",
       file_with("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8),
       "stands twice"},
      {"unknown key",
       file_with("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8),
       "'x' is none of"},
      {"unknown dtype", one("F33", "[2]", "[0,8]"), "'F33' is unknown"},
      {"lower-case dtype", one("f32", "[2]", "[0,8]"), "'f32' is unknown"},
      {"dtype is a number", file_with("{\"a\":{\"dtype\":1,\"shape\":[2],\"data_offsets\":[0,8]}}", 8),
       "a string expected"},
      {"negative dimension", one("F32", "[-2]", "[0,8]"), "not negative"},
      {"fraction", one("F32", "[2.0]", "[0,8]"), "must be an integer"},
      {"exponent", one("F32", "[2e0]", "[0,8]"), "must be an integer"},
      {"leading zero", one("F32", "[02]", "[0,8]"), "begins with a zero"},
      {"dimension of 65 bits", one("F32", "[36893488147419103232]", "[0,8]"), "beyond 64 bits"},
      {"dimension of 64 bits", one("F32", "[9223372036854775808]", "[0,8]"), "beyond 63 bits"},
      {"product wraps to 0", one("F32", "[4294967296,4294967296]", "[0,0]", 0), "beyond 64 bits"},
      {"product wraps to 2", one("U8", "[9223372036854775807,4,2]", "[0,8]"), "beyond 64 bits"},
      {"bits wrap", one("F64", "[2305843009213693952]", "[0,0]", 0), "beyond 64 bits"},
      {"half a byte", one("F4", "[3]", "[0,1]", 1), "whole bytes"},
      {"shape is a number", one("F32", "2", "[0,8]"), "start of a shape"},
      {"unclosed shape", one("F32", "[2", "[0,8]"), "a dimension must be"},
      {"shape with a trailing comma", one("F32", "[2,]", "[0,8]"), "a dimension must be"},
      {"65 dimensions",
       one(
           "U8",
           "[1" +
               [] {
                 std::string s;
                 for (int i = 0; i < 64; ++i) s += ",1";
                 return s;
               }() +
               "]",
           "[0,1]", 1),
       "64 dimensions"},
      {"one offset", one("F32", "[2]", "[0]"), "between the two"},
      {"three offsets", one("F32", "[2]", "[0,8,8]"), "after two"},
      {"offsets exchanged", one("F32", "[2]", "[8,0]"), "data_offsets are [8, 0]"},
      {"size too small", one("F32", "[2]", "[0,4]"), "takes 8 bytes"},
      {"size too large", one("F32", "[2]", "[0,16]", 16), "takes 8 bytes"},
      {"offset of 2^64-1", one("F32", "[2]", "[18446744073709551608,18446744073709551616]"),
       "beyond 64 bits"},
      {"hole before", one("F32", "[2]", "[8,16]", 16), "a hole"},
      {"hole between",
       file_with("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("b", "U8", "[1]", "[2,3]") + "}", 3),
       "a hole"},
      {"overlap",
       file_with("{" + entry("a", "U8", "[2]", "[0,2]") + "," + entry("b", "U8", "[2]", "[1,3]") + "}", 3),
       "overlap"},
      {"same bytes twice",
       file_with("{" + entry("a", "U8", "[2]", "[0,2]") + "," + entry("b", "U8", "[2]", "[0,2]") + "}", 2),
       "overlap"},
      {"data missing", small_file().substr(0, small_file().size() - 1), "truncated"},
      {"data appended", trailing, "appended"},
      {"data without tensors", file_with("{}", 1), "appended"},
      {"metadata is a list", file_with("{\"__metadata__\":[]}", 0), "start of __metadata__"},
      {"metadata holds a number", file_with("{\"__metadata__\":{\"a\":1}}", 0), "a string expected"},
      {"metadata twice", file_with("{\"__metadata__\":{},\"__metadata__\":{}}", 0),
       "__metadata__ stands twice"},
      {"metadata key twice", file_with("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0), "stands twice"},
      {"metadata unclosed", file_with("{\"__metadata__\":{\"a\":\"b\"", 0), "end of __metadata__"},
      {"a pickle", std::string("\x80\x02}q\x00...........", 16), "at most"},
  };
  EXPECT_GE(corruptions.size(), 60u);
  expect_refused(parse, corruptions);
}

TEST(Safetensors, SurvivesTruncationsAndFlips) {
  expect_every_truncation_fails(parse, small_file());
  expect_flips_are_clean(parse, small_file());
  for (const auto& test : load_vectors("safetensors.json")) {
    if (test["tensors"].empty()) continue;
    const std::string file = to_text(from_hex(test["file"]));
    expect_every_truncation_fails(parse, file);
  }
}

TEST(Safetensors, FindsTensorsOfAnyOrder) {
  const auto bytes =
      to_bytes(file_with("{" + entry("b", "U8", "[2]", "[2,4]") + "," + entry("c", "U8", "[0]", "[2,2]") +
                             "," + entry("a", "U8", "[2]", "[0,2]") + "}",
                         4));
  const SafetensorsIndex index(bytes, "file");
  EXPECT_EQ(index.tensor(0).name, "a");
  EXPECT_EQ(index.tensor(1).name, "c");
  EXPECT_EQ(index.tensor(2).name, "b");
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(index.find(name)) << name;
  EXPECT_FALSE(index.find("aa"));
  EXPECT_FALSE(index.find(""));
}

TEST(Safetensors, RefusesToWriteWhatIsInconsistent) {
  const std::vector<std::byte> data(8);
  const auto write = [&](TensorView tensor) {
    return format_safetensors(std::vector<TensorView>{std::move(tensor)});
  };
  EXPECT_NO_THROW(write({"a", "F32", {2}, data}));
  EXPECT_THROW(write({"a", "F31", {2}, data}), Error);
  EXPECT_THROW(write({"a", "F32", {3}, data}), Error);
  EXPECT_THROW(write({"a", "F32", {-2}, data}), Error);
  EXPECT_THROW(write({"__metadata__", "F32", {2}, data}), Error);
  EXPECT_THROW(write({"\xFF", "F32", {2}, data}), Error);
  EXPECT_THROW(format_safetensors(std::vector<TensorView>{{"a", "F32", {2}, data}, {"a", "U8", {8}, data}}),
               Error);
}

TEST(Safetensors, WritesWhatSourcesGiveInParts) {
  const std::vector<std::byte> data = to_bytes("0123456789abcdef");
  const auto in_parts = [&](size_t size, size_t part) {
    return [&data, size, part](const ByteSink& sink) {
      for (size_t i = 0; i < size; i += part) sink(std::span(data).subspan(i, std::min(part, size - i)));
    };
  };
  const SafetensorsWriter writer({{"b", "U8", {5}, in_parts(5, 2)}, {"a", "F32", {2, 2}, in_parts(16, 3)}},
                                 {{"k", "v"}});
  std::string written;
  writer.write([&](std::span<const std::byte> bytes) { written += to_text(bytes); });
  const std::vector<TensorView> views = {{"a", "F32", {2, 2}, data},
                                         {"b", "U8", {5}, std::span(data).first(5)}};
  EXPECT_EQ(written, format_safetensors(views, {{"k", "v"}}));
  EXPECT_EQ(written.size(), writer.size());
  // A source that gives something else than its shape says.
  const SafetensorsWriter wrong({{"b", "U8", {5}, in_parts(6, 2)}});
  EXPECT_THROW(wrong.write([](std::span<const std::byte>) {}), Error);
}

TEST(Safetensors, GoesThroughAFile) {
  const auto path = std::filesystem::path(testing::TempDir()) / "tensors.safetensors";
  const std::vector<std::byte> data = to_bytes("12345678");
  write_safetensors(path, std::vector<TensorView>{{"w", "BF16", {2, 2}, data}}, {{"step", "7"}});
  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata().at("step"), "7");
  EXPECT_EQ(file.find("w")->dtype, "BF16");
  EXPECT_EQ(to_text(file.find("w")->bytes), "12345678");
  EXPECT_EQ(file.tensors().size(), 1u);
  std::filesystem::remove(path);
}

// The names are in the worst order for the sort that finds duplicates.
TEST(Safetensors, ReadsAHeaderOfAMillionTensorsInTwoSeconds) {
  const uint64_t count = kLarge < (1 << 26) ? 10'000 : 1'000'000;
  std::string header = "{";
  header.reserve(100 * count);
  for (uint64_t i = 0; i < count; ++i) {
    if (i > 0) header += ',';
    header += entry("layer." + std::to_string(i * 2654435761u % 4294967296u) + ".weight", "F32", "[1,1]",
                    "[" + std::to_string(4 * i) + "," + std::to_string(4 * i + 4) + "]");
  }
  header += "}";
  const std::vector<std::byte> file = to_bytes(file_with(header, 4 * count));
  // Processor time, so that a busy machine does not fail the test.
  const std::clock_t begin = std::clock();
  const SafetensorsIndex index(file, "file");
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(index.size(), count);
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 2.0) << header.size() << " bytes of header";
}

}  // namespace
}  // namespace modewise::io
