#include "modewise/io/arrays/npy.h"

#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/error_of.h"
#include "tests/io/damage.h"
#include "tests/io/vector_file.h"

namespace modewise::io {
namespace {

void try_npy(std::span<const std::byte> bytes) {
  parse_npy(bytes, "file");
}

std::string valid_file() {
  const std::vector<float> values = {1.5f, -2, 3, 4, 5, 6};
  return format_npy(make_array({2, 3}, std::span(values)));
}

// A version 1 file with this dictionary and `data_bytes` of data.
std::string npy_with(const std::string& dictionary, size_t data_bytes) {
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
    EXPECT_EQ(message_of(try_npy, npy_with(dictionary, 8)), "") << dictionary;
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
      {"empty", "", "file: the file is empty, an NPY array was expected"},
      {"text", "a,b,c\n1,2,3\n", "file: not an NPY array: it does not begin with the bytes 93 'NUMPY'"},
      {"magic", bad_magic, "file: not an NPY array: it does not begin with the bytes 93 'NUMPY'"},
      {"version 4", bad_version, "file: NPY format version 4.0 is unknown; 1.0, 2.0 and 3.0 are read"},
      {"version 1.1", bad_minor, "file: NPY format version 1.1 is unknown; 1.0, 2.0 and 3.0 are read"},
      {"version 0", std::string("\x93NUMPY\x00\x00\x10\x00", 10),
       "file: NPY format version 0.0 is unknown; 1.0, 2.0 and 3.0 are read"},
      {"header of 2 GiB", huge_header, "file: the NPY header is 2147483647 bytes long; the limit is 10000"},
      {"header of 10001 bytes", npy_with(descr("'<f4'") + std::string(10001, ' '), 8),
       "file: the NPY header is 10056 bytes long; the limit is 10000"},
      {"header longer than the file", std::string("\x93NUMPY\x01\x00\x80\x00{", 11),
       "file: the NPY header should be 128 bytes long, but the file ends after 1 of them"},
      {"empty header", npy_with("", 0),
       "file: the NPY header is malformed at byte 10: '{' expected at the start of the header"},
      {"not a dictionary", npy_with("['descr']", 8),
       "file: the NPY header is malformed at byte 10: '{' expected at the start of the header"},
      {"no descr", npy_with("{'fortran_order': False, 'shape': (2,)}", 8),
       "file: the NPY header is malformed at byte 49: the keys descr, fortran_order and shape are all "
       "required"},
      {"no order", npy_with("{'descr': '<f4', 'shape': (2,)}", 8),
       "file: the NPY header is malformed at byte 41: the keys descr, fortran_order and shape are all "
       "required"},
      {"no shape", npy_with("{'descr': '<f4', 'fortran_order': False}", 8),
       "file: the NPY header is malformed at byte 50: the keys descr, fortran_order and shape are all "
       "required"},
      {"nothing", npy_with("{}", 8),
       "file: the NPY header is malformed at byte 12: the keys descr, fortran_order and shape are all "
       "required"},
      {"extra key", npy_with(head + "(2,), 'x': 1}", 8),
       "file: the NPY header is malformed at byte 70: unknown key 'x', expected descr, fortran_order or "
       "shape"},
      {"double key", npy_with(head + "(2,), 'shape': (2,)}", 8),
       "file: the NPY header is malformed at byte 74: duplicate key 'shape'"},
      {"unquoted key", npy_with("{descr: '<f4'}", 8),
       "file: the NPY header is malformed at byte 11: a quoted string expected"},
      {"unterminated string", npy_with("{'descr", 8),
       "file: the NPY header is malformed at byte 11: the string that begins here is not closed"},
      {"escape", npy_with(descr("'\\x3cf4'"), 8),
       "file: the NPY header is malformed at byte 20: a string with a backslash is not supported"},
      {"no colon", npy_with("{'descr' '<f4'}", 8),
       "file: the NPY header is malformed at byte 19: ':' expected after a key"},
      {"no comma", npy_with("{'descr': '<f4' 'shape': (2,)}", 8),
       "file: the NPY header is malformed at byte 26: '}' expected at the end of the header"},
      {"unclosed", npy_with(head + "(2,)", 8),
       "file: the NPY header is malformed at byte 64: '}' expected at the end of the header"},
      {"text after", npy_with(head + "(2,)} x", 8),
       "file: the NPY header is malformed at byte 66: unexpected text after the header's dictionary"},
      {"object", npy_with(descr("'|O'"), 8),
       "file: the NPY header is malformed at byte 24: it holds Python objects, which would have to be "
       "unpickled; only numbers are read"},
      {"object with size", npy_with(descr("'O8'"), 8),
       "file: the NPY header is malformed at byte 24: it holds Python objects, which would have to be "
       "unpickled; only numbers are read"},
      {"structured", npy_with(descr("[('a', '<f4')]"), 8),
       "file: the NPY header is malformed at byte 21: structured types are not supported"},
      {"complex", npy_with(descr("'<c8'"), 8),
       "file: the NPY header is malformed at byte 25: the type '<c8' is not supported; numbers of kind b1, "
       "i1-i8, u1-u8, f2, f4 and f8 are"},
      {"text type", npy_with(descr("'<U3'"), 8),
       "file: texts of type '<U3' are not read from NPY and NPZ files, only numbers: "
       "numpy.unique(labels, return_inverse=True)[1] numbers labels"},
      {"time", npy_with(descr("'<M8[ns]'"), 8),
       "file: the NPY header is malformed at byte 29: the type '<M8[ns]' is not supported; numbers of kind "
       "b1, i1-i8, u1-u8, f2, f4 and f8 are"},
      {"f3", npy_with(descr("'<f3'"), 8),
       "file: the NPY header is malformed at byte 25: the type '<f3' is not supported; numbers of kind b1, "
       "i1-i8, u1-u8, f2, f4 and f8 are"},
      {"no type", npy_with(descr("''"), 8),
       "file: the NPY header is malformed at byte 22: the type '' is not supported; numbers of kind b1, "
       "i1-i8, u1-u8, f2, f4 and f8 are"},
      {"no byte order", npy_with(descr("'|f4'"), 8),
       "file: the NPY header is malformed at byte 25: the type '|f4' has no byte order"},
      {"number as type", npy_with(descr("4"), 8),
       "file: the NPY header is malformed at byte 20: a quoted string expected"},
      {"order as number", npy_with("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", 8),
       "file: the NPY header is malformed at byte 44: fortran_order must be True or False"},
      {"lower-case false", npy_with("{'descr': '<f4', 'fortran_order': false, 'shape': (2,)}", 8),
       "file: the NPY header is malformed at byte 44: fortran_order must be True or False"},
      {"shape as list", npy_with(head + "[2]}", 8),
       "file: the NPY header is malformed at byte 60: '(' expected at the start of the shape"},
      {"shape as number", npy_with(head + "(2)}", 8),
       "file: the NPY header is malformed at byte 63: the shape is a number in parentheses, not a tuple"},
      {"shape as text", npy_with(head + "('2',)}", 8),
       "file: the NPY header is malformed at byte 61: shape must be a tuple of integers"},
      {"shape as float", npy_with(head + "(2.0,)}", 8),
       "file: the NPY header is malformed at byte 62: ')' expected at the end of the shape"},
      {"negative dimension", npy_with(head + "(-1,)}", 8),
       "file: the NPY header is malformed at byte 61: a dimension is negative"},
      {"two negative dimensions", npy_with(head + "(-1,-2)}", 8),
       "file: the NPY header is malformed at byte 61: a dimension is negative"},
      {"dimension beyond 64 bits", npy_with(head + "(99999999999999999999,)}", 8),
       "file: the NPY header is malformed at byte 61: a dimension beyond 64 bits"},
      {"product that wraps to 0", npy_with(head + "(4294967296,4294967296,4294967296)}", 8),
       "file: the NPY header declares the shape (4294967296, 4294967296, 4294967296), which is more than 64 "
       "bits of bytes"},
      {"bytes that wrap", npy_with(head + "(4611686018427387905,)}", 4),
       "file: the NPY header declares the shape (4611686018427387905,), which is more than 64 bits of bytes"},
      {"many dimensions", npy_with(head + "(" + std::string(130, '1').replace(1, 0, ",") + ")}", 8),
       "file: the NPY header is malformed at byte 63: a dimension beyond 64 bits"},
      {"65 dimensions",
       npy_with(
           head + "(" +
               [] {
                 std::string s;
                 for (int i = 0; i < 65; ++i) s += "1,";
                 return s;
               }() +
               ")}",
           4),
       "file: the NPY header is malformed at byte 189: more than 64 dimensions"},
      {"10 GB in 1 KB", npy_with(head + "(2500000000,)}", 900),
       "file: the header declares 10000000000 bytes of data ((2500000000,) float32), but only 900 follow it: "
       "the file is truncated"},
      {"truncated by a byte", valid_file().substr(0, valid_file().size() - 1),
       "file: the header declares 24 bytes of data ((2, 3) float32), but only 23 follow it: the file is "
       "truncated"},
      {"a byte too many", valid_file() + "x",
       "file: 1 bytes follow the data that the header declares ((2, 3) float32), at byte 152"},
      {"two arrays", valid_file() + valid_file(),
       "file: 152 bytes follow the data that the header declares ((2, 3) float32), at byte 152"},
  };
  EXPECT_GE(corruptions.size(), 45u);
  expect_refused(try_npy, corruptions);
}

TEST(Npy, SurvivesTruncationsAndFlips) {
  expect_every_truncation_fails(try_npy, valid_file());
  expect_flips_are_clean(try_npy, valid_file());
  const auto vectors = load_vectors("numpy.json");
  for (const auto& test : vectors["npy"]) {
    if (!test["name"].get<std::string>().ends_with("fortran")) continue;
    expect_flips_are_clean(try_npy, to_text(from_hex(test["file"])));
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
  EXPECT_EQ(error_of(ErrorKind::internal,
                     [&] {
                       make_array({2, 3}, std::span(values));
                     }),
            "make_array: a shape of 6 elements does not hold 5 values");
  Array array = make_array({5}, std::span(values));
  array.bytes.pop_back();
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { format_npy(array); }),
            "format_npy: 5 elements of float64 are not 39 bytes");
}

}  // namespace
}  // namespace modewise::io
