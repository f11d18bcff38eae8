#pragma once
// Header of a .npy array, shared by the readers of .npy files and .npz members.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/io/arrays/npy.h"

namespace modewise::io {

struct NpyHeader {
  Array::DType dtype = Array::f64;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  uint64_t data_offset = 0;  // from the magic number
  uint64_t data_bytes = 0;   // declared

  std::string shape_text() const;  // "(744, 33, 49)"
};

/// Maximum prefix of a file that parse_npy_header reads.
inline constexpr size_t kNpyHeaderLimit = 12 + 10000;

/// `bytes` begins at the magic number and holds the whole header; the data may be missing.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& source);

/// The elements in `bytes`, the whole file; data error if they are more or fewer than the header declares.
std::span<const std::byte> npy_data(const NpyHeader& header, std::span<const std::byte> bytes,
                                    const std::string& source);

/// Converts the file's bytes in `array` to little endian and C order.
void finish_npy(const NpyHeader& header, Array& array);

/// Magic number, version and header of `array`; its bytes follow.
std::string format_npy_header(const Array& array);

}  // namespace modewise::io
