#include "modewise/io/arrays/safetensors.h"

#include <cstring>
#include <ctime>
#include <filesystem>

#include "modewise/core/file.h"
#include "tests/error_of.h"
#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

void try_safetensors(std::span<const std::byte> bytes) {
  SafetensorsIndex(bytes, "file").tensors();
}

std::string safetensors_with(const std::string& header, size_t data_bytes) {
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
  return safetensors_with(
      "{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "I8", "[1,3]", "[8,11]") + "}", 11);
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
  EXPECT_EQ(message_of(try_safetensors, safetensors_with("{}", 0)), "");
  EXPECT_EQ(message_of(try_safetensors, safetensors_with("{}      ", 0)), "");
  EXPECT_EQ(
      message_of(try_safetensors,
                 safetensors_with(
                     "{ \"a\" :\n{\"data_offsets\" : [ 0 , 4 ] ,\t\"shape\":[ ],\"dtype\":\"F32\"} } ", 4)),
      "");
  EXPECT_EQ(message_of(try_safetensors, safetensors_with("{" + entry("b", "U8", "[2]", "[2,4]") + "," +
                                                             entry("a", "U8", "[2]", "[0,2]") + "}",
                                                         4)),
            "");
  EXPECT_EQ(message_of(try_safetensors, safetensors_with("{" + entry("a", "F4", "[2]", "[0,1]") + "}", 1)),
            "");
  EXPECT_EQ(message_of(try_safetensors,
                       safetensors_with("{" + entry("\\ud83d\\ude00\\u0041", "U8", "[1]", "[0,1]") + "}", 1)),
            "");
}

TEST(Safetensors, RefusesCorruptions) {
  const std::string a = entry("a", "F32", "[2]", "[0,8]");
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets,
                      size_t bytes = 8) {
    return safetensors_with("{" + entry("a", dtype, shape, offsets) + "}", bytes);
  };
  std::string trailing = small_file() + "x", zero_padding = safetensors_with("{}" + std::string(2, '\0'), 0);
  const std::vector<Corruption> corruptions = {
      {"empty", "", "file: not a safetensors file: 0 bytes are fewer than the 8 of the header's length"},
      {"seven bytes", "1234567",
       "file: not a safetensors file: 7 bytes are fewer than the 8 of the header's length"},
      {"only a length", file_with_length(2, ""),
       "file: the safetensors header declares 2 bytes, but the file ends after 0 of them"},
      {"length above the limit", file_with_length(100'000'001, "{}"),
       "file: the safetensors header declares 100000001 bytes; the limit is 100000000"},
      {"length of 2^64-1", file_with_length(UINT64_MAX, "{}"),
       "file: the safetensors header declares 18446744073709551615 bytes; the limit is 100000000"},
      {"length wraps", file_with_length(UINT64_MAX - 7, "{}"),
       "file: the safetensors header declares 18446744073709551608 bytes; the limit is 100000000"},
      {"length beyond the file", file_with_length(3, "{}"),
       "file: the safetensors header declares 3 bytes, but the file ends after 2 of them"},
      {"no header", file_with_length(0, ""), "file: the safetensors header must begin with '{' at byte 8"},
      {"space first", safetensors_with(" {}", 0),
       "file: the safetensors header must begin with '{' at byte 8"},
      {"array", safetensors_with("[]", 0), "file: the safetensors header must begin with '{' at byte 8"},
      {"not UTF-8", safetensors_with("{\"\xFF\":1}", 0),
       "file: the safetensors header is not UTF-8 at byte 10"},
      {"overlong UTF-8", safetensors_with("{\"\xC0\xAF\":1}", 0),
       "file: the safetensors header is not UTF-8 at byte 10"},
      {"surrogate in UTF-8", safetensors_with("{\"\xED\xA0\x80\":1}", 0),
       "file: the safetensors header is not UTF-8 at byte 10"},
      {"zero padding", zero_padding,
       "file: the safetensors header is wrong at byte 10: only spaces may follow the object"},
      {"newline padding", safetensors_with("{}\n", 0),
       "file: the safetensors header is wrong at byte 10: only spaces may follow the object"},
      {"second object", safetensors_with("{}{}", 0),
       "file: the safetensors header is wrong at byte 10: only spaces may follow the object"},
      {"unclosed", safetensors_with("{" + a, 8),
       "file: the safetensors header is wrong at byte 61: '}' expected at the end of the header"},
      {"trailing comma", safetensors_with("{" + a + ",}", 8),
       "file: the safetensors header is wrong at byte 62: a string expected"},
      {"two commas", safetensors_with("{" + a + ",," + entry("b", "U8", "[0]", "[8,8]") + "}", 8),
       "file: the safetensors header is wrong at byte 62: a string expected"},
      {"no comma", safetensors_with("{" + a + entry("b", "U8", "[0]", "[8,8]") + "}", 8),
       "file: the safetensors header is wrong at byte 61: '}' expected at the end of the header"},
      {"no colon", safetensors_with("{\"a\"{}}", 0),
       "file: the safetensors header is wrong at byte 12: ':' expected after a name"},
      {"entry is a number", safetensors_with("{\"a\":1}", 0),
       "file: the safetensors header is wrong at byte 13: '{' expected at the start of a tensor's entry"},
      {"empty entry", safetensors_with("{\"a\":{}}", 0),
       "file: the safetensors header is wrong at byte 14: a string expected"},
      {"unclosed string", safetensors_with("{\"a", 0),
       "file: the safetensors header is wrong at byte 10: the string that begins here is not closed"},
      {"backslash at the end", safetensors_with("{\"a\\", 0),
       "file: the safetensors header is wrong at byte 10: the string that begins here is not closed"},
      {"control character", safetensors_with("{\"a\n\":1}", 0),
       "file: the safetensors header is wrong at byte 11: a control character within a string"},
      {"unknown escape", safetensors_with("{" + entry("\\x", "U8", "[1]", "[0,1]") + "}", 1),
       "file: the safetensors header is wrong at byte 11: an unknown escape within a string"},
      {"short \\u", safetensors_with("{" + entry("\\u12", "U8", "[1]", "[0,1]") + "}", 1),
       "file: the safetensors header is wrong at byte 12: \\u needs four hexadecimal digits"},
      {"lone high surrogate", safetensors_with("{" + entry("\\ud800", "U8", "[1]", "[0,1]") + "}", 1),
       "file: the safetensors header is wrong at byte 15: a high surrogate without its low one"},
      {"high without low", safetensors_with("{" + entry("\\ud800\\u0041", "U8", "[1]", "[0,1]") + "}", 1),
       "file: the safetensors header is wrong at byte 15: a high surrogate without its low one"},
      {"lone low surrogate", safetensors_with("{" + entry("\\udc00", "U8", "[1]", "[0,1]") + "}", 1),
       "file: the safetensors header is wrong at byte 15: a low surrogate without its high one"},
      {"name twice",
       safetensors_with("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("a", "U8", "[1]", "[1,2]") + "}",
                        2),
       "file: duplicate tensor name 'a' in the header"},
      {"name twice, once escaped",
       safetensors_with(
           "{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("\\u0061", "U8", "[1]", "[1,2]") + "}", 2),
       "file: duplicate tensor name 'a' in the header"},
      {"no dtype", safetensors_with("{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8),
       "file: the safetensors header is wrong at byte 47: an entry needs dtype, shape and data_offsets"},
      {"no shape", safetensors_with("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8),
       "file: the safetensors header is wrong at byte 49: an entry needs dtype, shape and data_offsets"},
      {"no offsets", safetensors_with("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8),
       "file: the safetensors header is wrong at byte 40: an entry needs dtype, shape and data_offsets"},
      {"dtype twice",
       safetensors_with("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
                        8),
       "file: the safetensors header is wrong at byte 36: duplicate key 'dtype' in one entry"},
      {"unknown key",
       safetensors_with("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8),
       "file: the safetensors header is wrong at byte 65: unknown key 'x', expected dtype, shape or "
       "data_offsets"},
      {"unknown dtype", one("F33", "[2]", "[0,8]"),
       "file: the safetensors header is wrong at byte 27: unknown dtype 'F33'"},
      {"lower-case dtype", one("f32", "[2]", "[0,8]"),
       "file: the safetensors header is wrong at byte 27: unknown dtype 'f32'"},
      {"dtype is a number", safetensors_with("{\"a\":{\"dtype\":1,\"shape\":[2],\"data_offsets\":[0,8]}}", 8),
       "file: the safetensors header is wrong at byte 22: a string expected"},
      {"negative dimension", one("F32", "[-2]", "[0,8]"),
       "file: the safetensors header is wrong at byte 37: a dimension must be a non-negative integer"},
      {"fraction", one("F32", "[2.0]", "[0,8]"),
       "file: the safetensors header is wrong at byte 38: a dimension must be an integer"},
      {"exponent", one("F32", "[2e0]", "[0,8]"),
       "file: the safetensors header is wrong at byte 38: a dimension must be an integer"},
      {"leading zero", one("F32", "[02]", "[0,8]"),
       "file: the safetensors header is wrong at byte 37: a dimension begins with a zero"},
      {"dimension of 65 bits", one("F32", "[36893488147419103232]", "[0,8]"),
       "file: the safetensors header is wrong at byte 37: a dimension is beyond 64 bits"},
      {"dimension of 64 bits", one("F32", "[9223372036854775808]", "[0,8]"),
       "file: the safetensors header is wrong at byte 56: a dimension is beyond 63 bits"},
      {"product wraps to 0", one("F32", "[4294967296,4294967296]", "[0,0]", 0),
       "file: the safetensors header is wrong at byte 81: the size of 'a' is beyond 64 bits"},
      {"product wraps to 2", one("U8", "[9223372036854775807,4,2]", "[0,8]"),
       "file: the safetensors header is wrong at byte 82: the size of 'a' is beyond 64 bits"},
      {"bits wrap", one("F64", "[2305843009213693952]", "[0,0]", 0),
       "file: the safetensors header is wrong at byte 79: the size of 'a' is beyond 64 bits"},
      {"half a byte", one("F4", "[3]", "[0,1]", 1),
       "file: the safetensors header is wrong at byte 60: 'a' does not fill whole bytes"},
      {"shape is a number", one("F32", "2", "[0,8]"),
       "file: the safetensors header is wrong at byte 36: '[' expected at the start of a shape"},
      {"unclosed shape", one("F32", "[2", "[0,8]"),
       "file: the safetensors header is wrong at byte 39: a dimension must be a non-negative integer"},
      {"shape with a trailing comma", one("F32", "[2,]", "[0,8]"),
       "file: the safetensors header is wrong at byte 39: a dimension must be a non-negative integer"},
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
       "file: the safetensors header is wrong at byte 165: a tensor has more than 64 dimensions"},
      {"one offset", one("F32", "[2]", "[0]"),
       "file: the safetensors header is wrong at byte 57: ',' expected between the two data offsets"},
      {"three offsets", one("F32", "[2]", "[0,8,8]"),
       "file: the safetensors header is wrong at byte 59: ']' expected after two data offsets"},
      {"offsets exchanged", one("F32", "[2]", "[8,0]"),
       "file: the safetensors header is wrong at byte 61: 'a' takes 8 bytes by shape and dtype, but its "
       "data_offsets are [8, 0]"},
      {"size too small", one("F32", "[2]", "[0,4]"),
       "file: the safetensors header is wrong at byte 61: 'a' takes 8 bytes by shape and dtype, but its "
       "data_offsets are [0, 4]"},
      {"size too large", one("F32", "[2]", "[0,16]", 16),
       "file: the safetensors header is wrong at byte 62: 'a' takes 8 bytes by shape and dtype, but its "
       "data_offsets are [0, 16]"},
      {"offset of 2^64-1", one("F32", "[2]", "[18446744073709551608,18446744073709551616]"),
       "file: the safetensors header is wrong at byte 77: a data offset is beyond 64 bits"},
      {"hole before", one("F32", "[2]", "[8,16]", 16),
       "file: the bytes of tensor 'a' begin at data offset 8, but the tensor before it ends at 0: there is a "
       "gap"},
      {"hole between",
       safetensors_with("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("b", "U8", "[1]", "[2,3]") + "}",
                        3),
       "file: the bytes of tensor 'b' begin at data offset 2, but the tensor before it ends at 1: there is a "
       "gap"},
      {"overlap",
       safetensors_with("{" + entry("a", "U8", "[2]", "[0,2]") + "," + entry("b", "U8", "[2]", "[1,3]") + "}",
                        3),
       "file: the bytes of tensor 'b' begin at data offset 1, but the tensor before it ends at 2: they "
       "overlap"},
      {"same bytes twice",
       safetensors_with("{" + entry("a", "U8", "[2]", "[0,2]") + "," + entry("b", "U8", "[2]", "[0,2]") + "}",
                        2),
       "file: the bytes of tensor 'b' begin at data offset 0, but the tensor before it ends at 2: they "
       "overlap"},
      {"data missing", small_file().substr(0, small_file().size() - 1),
       "file: the tensors take 11 bytes of data, but 10 bytes follow the header: the file is truncated"},
      {"data appended", trailing,
       "file: the tensors take 11 bytes of data, but 12 bytes follow the header: it has trailing bytes"},
      {"data without tensors", safetensors_with("{}", 1),
       "file: the tensors take 0 bytes of data, but 1 bytes follow the header: it has trailing bytes"},
      {"metadata is a list", safetensors_with("{\"__metadata__\":[]}", 0),
       "file: the safetensors header is wrong at byte 24: '{' expected at the start of __metadata__"},
      {"metadata holds a number", safetensors_with("{\"__metadata__\":{\"a\":1}}", 0),
       "file: the safetensors header is wrong at byte 29: a string expected"},
      {"metadata twice", safetensors_with("{\"__metadata__\":{},\"__metadata__\":{}}", 0),
       "file: the safetensors header is wrong at byte 42: duplicate key __metadata__"},
      {"metadata key twice", safetensors_with("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0),
       "file: the safetensors header is wrong at byte 38: duplicate key in __metadata__"},
      {"metadata unclosed", safetensors_with("{\"__metadata__\":{\"a\":\"b\"", 0),
       "file: the safetensors header is wrong at byte 32: '}' expected at the end of __metadata__"},
      {"a pickle", std::string("\x80\x02}q\x00...........", 16),
       "file: expected a safetensors file, got a Python pickle"},
  };
  EXPECT_GE(corruptions.size(), 60u);
  expect_refused(try_safetensors, corruptions);
}

TEST(Safetensors, SurvivesTruncationsAndFlips) {
  expect_every_truncation_fails(try_safetensors, small_file());
  expect_flips_are_clean(try_safetensors, small_file());
  for (const auto& test : load_vectors("safetensors.json")) {
    if (test["tensors"].empty()) continue;
    const std::string file = to_text(from_hex(test["file"]));
    expect_every_truncation_fails(try_safetensors, file);
  }
}

TEST(Safetensors, FindsTensorsOfAnyOrder) {
  const auto bytes = to_bytes(safetensors_with("{" + entry("b", "U8", "[2]", "[2,4]") + "," +
                                                   entry("c", "U8", "[0]", "[2,2]") + "," +
                                                   entry("a", "U8", "[2]", "[0,2]") + "}",
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
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       write({"a", "F31", {2}, data});
                     }),
            "tensor 'a': unknown safetensors dtype 'F31'");
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       write({"a", "F32", {3}, data});
                     }),
            "tensor 'a': F32 of shape [3] takes 96 bits, but 8 bytes were given");
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       write({"a", "F32", {-2}, data});
                     }),
            "tensor 'a': the shape [-2] has no size");
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       write({"__metadata__", "F32", {2}, data});
                     }),
            "'__metadata__' is not allowed as a tensor name in safetensors");
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       write({"\xFF", "F32", {2}, data});
                     }),
            "a safetensors header can hold only UTF-8, got '\\xff'");
  EXPECT_EQ(
      error_of(ErrorKind::data,
               [&] {
                 format_safetensors(std::vector<TensorView>{{"a", "F32", {2}, data}, {"a", "U8", {8}, data}});
               }),
      "duplicate tensor name 'a'");
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
  // A source whose bytes do not match its shape.
  const SafetensorsWriter wrong({{"b", "U8", {5}, in_parts(6, 2)}});
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { wrong.write([](std::span<const std::byte>) {}); }),
            "tensor 'b': U8 of shape [5] takes 5 bytes, got 6");
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
  const std::vector<std::byte> file = to_bytes(safetensors_with(header, 4 * count));
  // CPU time, so that a busy machine does not fail the test.
  const std::clock_t begin = std::clock();
  const SafetensorsIndex index(file, "file");
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(index.size(), count);
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 2.0) << header.size() << " bytes of header";
}

}  // namespace
}  // namespace modewise::io
