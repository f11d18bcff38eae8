#pragma once
// NumPy's .npz archives: a ZIP of .npy members, stored or deflated. Declared sizes are checked against the
// archive before anything is allocated: a member may expand to 64 MiB or 1024 times its compressed size,
// whichever is larger. Checksums are verified.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "modewise/io/arrays/npy.h"

namespace modewise::io {

/// Maximum size of all members together.
inline constexpr uint64_t kNpzMaxBytes = uint64_t{64} << 30;

/// Arrays by member name without ".npy"; other members are ignored.
std::map<std::string, Array> parse_npz(std::span<const std::byte> bytes, const std::string& source,
                                       uint64_t max_bytes = kNpzMaxBytes);
/// The arrays' names, without reading them.
std::vector<std::string> npz_names(const std::string& path);
/// Type and shape of an array, without its elements. Data error if there is none of this name.
Array npz_header(const std::string& path, const std::string& name);
std::map<std::string, Array> read_npz(const std::string& path, uint64_t max_bytes = kNpzMaxBytes);
/// Without the arrays named in `left_out`, whose data is not read.
std::map<std::string, Array> read_npz_without(const std::string& path, std::span<const std::string> left_out);

/// Deflated when `compress`. Written atomically.
void write_npz(const std::string& path, const std::map<std::string, Array>& arrays, bool compress = false);
std::string format_npz(const std::map<std::string, Array>& arrays, bool compress = false);

}  // namespace modewise::io
