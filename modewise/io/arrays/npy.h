#pragma once
// NumPy's .npy arrays (format versions 1, 2 and 3). Declared sizes are checked against the available bytes
// before anything is allocated; object and structured types are refused.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::io {

/// A dense array: `bytes` holds the elements in C order, little endian, whatever the order of the file.
struct Array {
  enum DType { u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64, boolean };

  DType dtype = f64;
  std::vector<int64_t> shape;  // empty: a scalar
  std::vector<std::byte> bytes;

  int64_t size() const;  // number of elements
};

size_t item_size(Array::DType dtype);
std::string_view dtype_name(Array::DType dtype);  // "float32", "int64", "bool", …

/// An array of `values`; their number must be the product of `shape`.
Array make_array(std::vector<int64_t> shape, std::span<const double> values);
Array make_array(std::vector<int64_t> shape, std::span<const float> values);
Array make_array(std::vector<int64_t> shape, std::span<const int64_t> values);
Array make_array(std::vector<int64_t> shape, std::span<const uint8_t> values);

/// Every element as double (64-bit integers beyond 2^53 are rounded).
std::vector<double> to_doubles(const Array& array);

Array parse_npy(std::span<const std::byte> bytes, const std::string& source);
Array read_npy(const std::string& path);

/// Version 1.0 as numpy writes it: C order, data aligned to 64 bytes.
std::string format_npy(const Array& array);
/// Written atomically.
void write_npy(const std::string& path, const Array& array);

}  // namespace modewise::io
