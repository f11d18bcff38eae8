#pragma once
// World files: six lines of text next to an image that place its pixels (.tfw, .tifw, .pgw, .jgw, .wld …).

#include <array>
#include <filesystem>
#include <optional>

namespace modewise::io {

/// (a, b, c, d, e, f) as GeoReference::transform, from the world file of `image`; nothing if there is none.
/// Throws data errors that name file and line.
std::optional<std::array<double, 6>> read_world_file(const std::filesystem::path& image);

}  // namespace modewise::io
