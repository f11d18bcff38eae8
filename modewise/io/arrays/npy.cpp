#include "modewise/io/arrays/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/arrays/npy_header.h"
#include "modewise/io/mapped_file.h"

namespace modewise::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the byte order of Array is the machine's");

struct TypeEntry {
  Array::DType dtype;
  std::string_view name, descr;
  size_t size;
};

// In the order of Array::DType.
constexpr std::array<TypeEntry, 12> kTypes = {{{Array::u8, "uint8", "|u1", 1},
                                               {Array::i8, "int8", "|i1", 1},
                                               {Array::u16, "uint16", "<u2", 2},
                                               {Array::i16, "int16", "<i2", 2},
                                               {Array::u32, "uint32", "<u4", 4},
                                               {Array::i32, "int32", "<i4", 4},
                                               {Array::u64, "uint64", "<u8", 8},
                                               {Array::i64, "int64", "<i8", 8},
                                               {Array::f16, "float16", "<f2", 2},
                                               {Array::f32, "float32", "<f4", 4},
                                               {Array::f64, "float64", "<f8", 8},
                                               {Array::boolean, "bool", "|b1", 1}}};

double half_to_double(uint16_t half) {
  const uint32_t exponent = (half >> 10) & 31, fraction = half & 1023;
  double value;
  if (exponent == 31) {
    value =
        fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = fraction * 0x1p-24;
  } else {
    value = (1024 + fraction) * 0x1p-25 * static_cast<double>(1u << exponent);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

template <class T>
void widen(const Array& array, std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
}

template <class T>
Array array_of(Array::DType dtype, std::vector<int64_t> shape, std::span<const T> values) {
  Array array{dtype, std::move(shape), {}};
  require(array.size() == static_cast<int64_t>(values.size()), ErrorKind::internal,
          "make_array: a shape of {} elements does not hold {} values", array.size(), values.size());
  const auto bytes = std::as_bytes(values);
  array.bytes.assign(bytes.begin(), bytes.end());
  return array;
}

template <size_t Size>
void swap_bytes(std::span<std::byte> bytes) {
  for (size_t i = 0; i + Size <= bytes.size(); i += Size) std::reverse(&bytes[i], &bytes[i] + Size);
}

// A copy of the elements with the last axis fastest; in `bytes` the first one is.
std::vector<std::byte> in_c_order(std::span<const std::byte> bytes, const std::vector<int64_t>& shape,
                                  size_t item) {
  const size_t rank = shape.size(), count = bytes.size() / item;
  std::vector<std::byte> sorted(bytes.size());
  std::vector<size_t> index(rank, 0), stride(rank, 1);
  for (size_t axis = 1; axis < rank; ++axis) {
    stride[axis] = stride[axis - 1] * static_cast<size_t>(shape[axis - 1]);
  }
  size_t source = 0;
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(&sorted[i * item], &bytes[source * item], item);
    for (size_t axis = rank; axis-- > 0;) {
      source += stride[axis];
      if (++index[axis] < static_cast<size_t>(shape[axis])) break;
      source -= stride[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return sorted;
}

void swap_big_endian(const NpyHeader& header, Array& array) {
  if (!header.big_endian) return;
  switch (item_size(array.dtype)) {
    case 2:
      return swap_bytes<2>(array.bytes);
    case 4:
      return swap_bytes<4>(array.bytes);
    case 8:
      return swap_bytes<8>(array.bytes);
    default:
      return;
  }
}

}  // namespace

int64_t Array::size() const {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  return count;
}

size_t item_size(Array::DType dtype) {
  return kTypes[static_cast<size_t>(dtype)].size;
}
std::string_view dtype_name(Array::DType dtype) {
  return kTypes[static_cast<size_t>(dtype)].name;
}

Array make_array(std::vector<int64_t> shape, std::span<const double> values) {
  return array_of(Array::f64, std::move(shape), values);
}
Array make_array(std::vector<int64_t> shape, std::span<const float> values) {
  return array_of(Array::f32, std::move(shape), values);
}
Array make_array(std::vector<int64_t> shape, std::span<const int64_t> values) {
  return array_of(Array::i64, std::move(shape), values);
}
Array make_array(std::vector<int64_t> shape, std::span<const uint8_t> values) {
  return array_of(Array::u8, std::move(shape), values);
}

std::vector<double> to_doubles(const Array& array) {
  std::vector<double> values(array.bytes.size() / item_size(array.dtype));
  switch (array.dtype) {
    case Array::u8:
      widen<uint8_t>(array, values);
      break;
    case Array::i8:
      widen<int8_t>(array, values);
      break;
    case Array::u16:
      widen<uint16_t>(array, values);
      break;
    case Array::i16:
      widen<int16_t>(array, values);
      break;
    case Array::u32:
      widen<uint32_t>(array, values);
      break;
    case Array::i32:
      widen<int32_t>(array, values);
      break;
    case Array::u64:
      widen<uint64_t>(array, values);
      break;
    case Array::i64:
      widen<int64_t>(array, values);
      break;
    case Array::f32:
      widen<float>(array, values);
      break;
    case Array::f64:
      widen<double>(array, values);
      break;
    case Array::boolean:
      for (size_t i = 0; i < values.size(); ++i) values[i] = array.bytes[i] != std::byte{0} ? 1 : 0;
      break;
    case Array::f16:
      for (size_t i = 0; i < values.size(); ++i) {
        uint16_t half;
        std::memcpy(&half, array.bytes.data() + 2 * i, 2);
        values[i] = half_to_double(half);
      }
      break;
  }
  return values;
}

void finish_npy(const NpyHeader& header, Array& array) {
  if (header.fortran_order) array.bytes = in_c_order(array.bytes, array.shape, item_size(array.dtype));
  swap_big_endian(header, array);
}

std::span<const std::byte> npy_data(const NpyHeader& header, std::span<const std::byte> bytes,
                                    const std::string& source) {
  const uint64_t there = bytes.size() - header.data_offset;
  require(header.data_bytes <= there, ErrorKind::data,
          "{}: the header declares {} bytes of data ({} {}), but only {} follow it: the file is truncated",
          source, header.data_bytes, header.shape_text(), dtype_name(header.dtype), there);
  require(header.data_bytes == there, ErrorKind::data,
          "{}: {} bytes follow the data that the header declares ({} {}), at byte {}", source,
          there - header.data_bytes, header.shape_text(), dtype_name(header.dtype),
          header.data_offset + header.data_bytes);
  return bytes.subspan(header.data_offset);
}

Array parse_npy(std::span<const std::byte> bytes, const std::string& source) {
  const NpyHeader header = parse_npy_header(bytes, source);
  const auto data = npy_data(header, bytes, source);
  Array array{header.dtype, header.shape, {}};
  if (header.fortran_order)
    array.bytes = in_c_order(data, header.shape, item_size(header.dtype));
  else
    array.bytes.assign(data.begin(), data.end());
  swap_big_endian(header, array);
  return array;
}

Array read_npy(const std::string& path) {
  const MappedFile file(path);
  return parse_npy(file.bytes(), path);
}

std::string format_npy_header(const Array& array) {
  std::string header = "{'descr': '";
  header += kTypes[static_cast<size_t>(array.dtype)].descr;
  header += "', 'fortran_order': False, 'shape': (";
  for (size_t axis = 0; axis < array.shape.size(); ++axis) {
    header += std::to_string(array.shape[axis]);
    if (axis + 1 < array.shape.size() || axis == 0) header += ",";
    if (axis + 1 < array.shape.size()) header += " ";
  }
  header += "), }";
  // Ten bytes precede the header; with its newline the total is a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  require(header.size() <= 65535, ErrorKind::internal, "format_npy: {} dimensions are too many",
          array.shape.size());
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += static_cast<char>(header.size() & 255);
  prefix += static_cast<char>(header.size() >> 8);
  return prefix + header;
}

std::string format_npy(const Array& array) {
  require(static_cast<uint64_t>(array.size()) * item_size(array.dtype) == array.bytes.size(),
          ErrorKind::internal, "format_npy: {} elements of {} are not {} bytes", array.size(),
          dtype_name(array.dtype), array.bytes.size());
  std::string text = format_npy_header(array);
  text.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return text;
}

void write_npy(const std::string& path, const Array& array) {
  write_file_atomically(path, std::string_view(format_npy(array)));
}

}  // namespace modewise::io
