#include "modewise/io/arrays/npy.h"

#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

void parse(std::span<const std::byte> bytes) {
  parse_npy(bytes, "file");
}

std::string valid_file() {
  const std::vector<float> values = {1.5f, -2, 3, 4, 5, 6};
  return format_npy(make_array({2, 3}, std::span(values)));
}

// A version 1 file with this dictionary and `data_bytes` of data.
std::string file_with(const std::string& dictionary, size_t data_bytes) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dictionary.size() & 255);
  file += static_cast<char>(dictionary.size() >> 8);
  return file + dictionary + std::string(data_bytes, '\1');
}

TEST(Npy, ReadsWhatNumpyWrote) {
  const auto vectors = load_vectors("numpy.json");
  for (const auto& test : vectors["npy"]) {
    const std::string name = test["name"];
    const std::vector<std::byte> file = from_hex(test["file"]);
    const Array array = parse_npy(file, name);
    EXPECT_EQ(dtype_name(array.dtype), test["dtype"].get<std::string>()) << name;
    EXPECT_EQ(array.shape, test["shape"].get<std::vector<int64_t>>()) << name;
    EXPECT_EQ(array.bytes, from_hex(test["bytes"])) << name;
    const std::vector<double> values = to_doubles(array);
    ASSERT_EQ(values.size(), test["values"].size()) << name;
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected = from_hex_float(test["values"][i]);
      EXPECT_TRUE(values[i] == expected || (std::isnan(values[i]) && std::isnan(expected)))
          << name << " " << i;
      EXPECT_EQ(std::signbit(values[i]), std::signbit(expected)) << name << " " << i;
    }
  }
}

TEST(Npy, WritesTheSameBytesAsNumpy) {
  int same = 0;
  const auto vectors = load_vectors("numpy.json");
  for (const auto& test : vectors["npy"]) {
    if (!test["same_as_ours"].get<bool>()) continue;
    const std::vector<std::byte> file = from_hex(test["file"]);
    EXPECT_EQ(to_bytes(format_npy(parse_npy(file, "file"))), file) << test["name"];
    ++same;
  }
  EXPECT_GT(same, 15);
}

TEST(Npy, AcceptsAnyOrderOfKeysAndPythonsFreedoms) {
  for (const char* dictionary : {
           "{'shape': (2,), 'fortran_order': False, 'descr': '<f4'}",
           "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,)}",
           "  {'fortran_order' : True , 'descr' : 'f4', 'shape' : ( 2 , ) , }  \n",
           "{'descr': '=f4', 'fortran_order': False, 'shape': (2L,), }\n",
       }) {
    EXPECT_EQ(message_of(parse, file_with(dictionary, 8)), "") << dictionary;
  }
}

TEST(Npy, RefusesMalformedHeaders) {
  const std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
  const auto descr = [](const std::string& d) {
    return "{'descr': " + d + ", 'fortran_order': False, 'shape': (2,)}";
  };
  std::string bad_version = valid_file(), bad_minor = valid_file(), bad_magic = valid_file();
  bad_version[6] = 4;
  bad_minor[7] = 1;
  bad_magic[0] = 'P';
  std::string huge_header("\x93NUMPY\x02\x00\xFF\xFF\xFF\x7F", 12);
  const std::vector<Corruption> corruptions = {
      {"empty", "", "is empty"},
      {"text", "a,b,c\n1,2,3\n", "not an NPY array"},
      {"magic", bad_magic, "not an NPY array"},
      {"version 4", bad_version, "version 4.0 is unknown"},
      {"version 1.1", bad_minor, "version 1.1 is unknown"},
      {"version 0", std::string("\x93NUMPY\x00\x00\x10\x00", 10), "version 0.0"},
      {"header of 2 GiB", huge_header, "at most 10000"},
      {"header of 10001 bytes", file_with(descr("'<f4'") + std::string(10001, ' '), 8), "at most 10000"},
      {"header longer than the file", std::string("\x93NUMPY\x01\x00\x80\x00{", 11), "ends after 1 of them"},
      {"empty header", file_with("", 0), "'{' expected"},
      {"not a dictionary", file_with("['descr']", 8), "'{' expected"},
      {"no descr", file_with("{'fortran_order': False, 'shape': (2,)}", 8), "must all be there"},
      {"no order", file_with("{'descr': '<f4', 'shape': (2,)}", 8), "must all be there"},
      {"no shape", file_with("{'descr': '<f4', 'fortran_order': False}", 8), "must all be there"},
      {"nothing", file_with("{}", 8), "must all be there"},
      {"extra key", file_with(head + "(2,), 'x': 1}", 8), "the key 'x'"},
      {"double key", file_with(head + "(2,), 'shape': (2,)}", 8), "stands twice"},
      {"unquoted key", file_with("{descr: '<f4'}", 8), "a quoted string"},
      {"unterminated string", file_with("{'descr", 8), "does not end"},
      {"escape", file_with(descr("'\\x3cf4'"), 8), "backslash"},
      {"no colon", file_with("{'descr' '<f4'}", 8), "':' expected"},
      {"no comma", file_with("{'descr': '<f4' 'shape': (2,)}", 8), "'}' expected"},
      {"unclosed", file_with(head + "(2,)", 8), "'}' expected"},
      {"text after", file_with(head + "(2,)} x", 8), "something follows"},
      {"object", file_with(descr("'|O'"), 8), "Python objects"},
      {"object with size", file_with(descr("'O8'"), 8), "Python objects"},
      {"structured", file_with(descr("[('a', '<f4')]"), 8), "structured"},
      {"complex", file_with(descr("'<c8'"), 8), "'<c8' is not supported"},
      {"text type", file_with(descr("'<U3'"), 8), "not supported"},
      {"time", file_with(descr("'<M8[ns]'"), 8), "not supported"},
      {"f3", file_with(descr("'<f3'"), 8), "not supported"},
      {"no type", file_with(descr("''"), 8), "not supported"},
      {"no byte order", file_with(descr("'|f4'"), 8), "has no byte order"},
      {"number as type", file_with(descr("4"), 8), "a quoted string"},
      {"order as number", file_with("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", 8),
       "True or False"},
      {"lower-case false", file_with("{'descr': '<f4', 'fortran_order': false, 'shape': (2,)}", 8),
       "True or False"},
      {"shape as list", file_with(head + "[2]}", 8), "'(' expected"},
      {"shape as number", file_with(head + "(2)}", 8), "not a tuple"},
      {"shape as text", file_with(head + "('2',)}", 8), "tuple of integers"},
      {"shape as float", file_with(head + "(2.0,)}", 8), "')' expected"},
      {"negative dimension", file_with(head + "(-1,)}", 8), "negative"},
      {"two negative dimensions", file_with(head + "(-1,-2)}", 8), "negative"},
      {"dimension beyond 64 bits", file_with(head + "(99999999999999999999,)}", 8), "beyond 64 bits"},
      {"product that wraps to 0", file_with(head + "(4294967296,4294967296,4294967296)}", 8),
       "more than 64 bits"},
      {"bytes that wrap", file_with(head + "(4611686018427387905,)}", 4), "more than 64 bits"},
      {"many dimensions", file_with(head + "(" + std::string(130, '1').replace(1, 0, ",") + ")}", 8), "bits"},
      {"65 dimensions",
       file_with(
           head + "(" +
               [] {
                 std::string s;
                 for (int i = 0; i < 65; ++i) s += "1,";
                 return s;
               }() +
               ")}",
           4),
       "64 dimensions"},
      {"10 GB in 1 KB", file_with(head + "(2500000000,)}", 900), "10000000000 bytes"},
      {"truncated by a byte", valid_file().substr(0, valid_file().size() - 1), "truncated"},
      {"a byte too many", valid_file() + "x", "1 bytes follow"},
      {"two arrays", valid_file() + valid_file(), "bytes follow"},
  };
  EXPECT_GE(corruptions.size(), 45u);
  expect_refused(parse, corruptions);
}

TEST(Npy, SurvivesTruncationsAndFlips) {
  expect_every_truncation_fails(parse, valid_file());
  expect_flips_are_clean(parse, valid_file());
  const auto vectors = load_vectors("numpy.json");
  for (const auto& test : vectors["npy"]) {
    if (!test["name"].get<std::string>().ends_with("fortran")) continue;
    expect_flips_are_clean(parse, to_text(from_hex(test["file"])));
  }
}

TEST(Npy, GoesThroughAFile) {
  const auto path = std::filesystem::path(testing::TempDir()) / "array.npy";
  const std::vector<int64_t> values = {1, -2, INT64_MAX};
  write_npy(path, make_array({3}, std::span(values)));
  const Array array = read_npy(path);
  EXPECT_EQ(array.shape, (std::vector<int64_t>{3}));
  EXPECT_EQ(std::memcmp(array.bytes.data(), values.data(), 24), 0);
  std::filesystem::remove(path);
}

TEST(MakeArray, RefusesAWrongNumberOfValues) {
  const std::vector<double> values(5);
  EXPECT_THROW(make_array({2, 3}, std::span(values)), Error);
  Array array = make_array({5}, std::span(values));
  array.bytes.pop_back();
  EXPECT_THROW(format_npy(array), Error);
}

}  // namespace
}  // namespace modewise::io
