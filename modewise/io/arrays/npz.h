#pragma once
// NumPy's .npz archives: a ZIP of .npy members, stored or deflated. Declared sizes are checked against the
// archive before anything is allocated: a member may expand to 64 MiB or to 1024 times its compressed size,
// whichever is more. Checksums are verified.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "modewise/io/arrays/npy.h"

namespace modewise::io {

/// The most that all members may take together.
inline constexpr uint64_t kNpzMaxBytes = uint64_t{64} << 30;

/// Names are the members' names without ".npy"; members that are no .npy are left out.
std::map<std::string, Array> parse_npz(std::span<const std::byte> bytes, const std::string& source,
                                       uint64_t max_bytes = kNpzMaxBytes);
/// The arrays' names, without reading them.
std::vector<std::string> npz_names(const std::string& path);
std::map<std::string, Array> read_npz(const std::string& path, uint64_t max_bytes = kNpzMaxBytes);
/// Without the arrays named in `left_out`, of which nothing is read.
std::map<std::string, Array> read_npz_without(const std::string& path, std::span<const std::string> left_out);

/// Deflated when `compress`. Written atomically.
void write_npz(const std::string& path, const std::map<std::string, Array>& arrays, bool compress = false);
std::string format_npz(const std::map<std::string, Array>& arrays, bool compress = false);

}  // namespace modewise::io
