#pragma once
// Limit on the content of compressed files, so that a small file cannot take all memory.

#include <algorithm>
#include <cstdint>

namespace modewise {

/// Bytes that a data set of `file_bytes` compressed bytes may unpack to without data.allow_size: 512 MiB (the
/// 3D sets of MedMNIST fit) or 32 times the files, whichever is larger.
constexpr int64_t unpacked_limit(int64_t file_bytes) {
  return std::max(int64_t{512} << 20, 32 * file_bytes);
}

}  // namespace modewise
