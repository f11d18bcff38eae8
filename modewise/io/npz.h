#pragma once
// NumPy's .npz archives: a ZIP of .npy members, stored or deflated. Declared sizes are checked against the
// archive before anything is allocated; checksums are verified.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "modewise/io/npy.h"

namespace modewise::io {

struct NpzLimits {
  /// A member may expand to this many times its compressed size, plus 64 MiB.
  uint64_t expansion = 1024;
  /// All members together.
  uint64_t total_bytes = uint64_t{64} << 30;
};

/// Names are the members' names without ".npy"; members that are no .npy are left out.
std::map<std::string, Array> parse_npz(std::span<const std::byte> bytes, const std::string& source,
                                       const NpzLimits& limits = {});
std::map<std::string, Array> read_npz(const std::string& path, const NpzLimits& limits = {});

/// Deflated when `compress`. Written atomically.
void write_npz(const std::string& path, const std::map<std::string, Array>& arrays, bool compress = false);
std::string format_npz(const std::map<std::string, Array>& arrays, bool compress = false);

}  // namespace modewise::io
