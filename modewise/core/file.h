#pragma once
// Atomic file writes: readers see the old content or the new, never a part. Temporary name in the same
// folder, fsync, rename, fsync of the folder.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modewise {

/// Writes `bytes` to `path` atomically and durably. Throws io errors with the path and the system's reason.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Writes and fsyncs `bytes`, for files of a folder that is renamed as a whole afterwards.
void write_file_synced(const std::filesystem::path& path, std::span<const std::byte> bytes);
void sync_directory(const std::filesystem::path& path);

/// The whole file. Throws no_input when it is missing or unreadable, io when a read fails.
std::string read_file(const std::filesystem::path& path);

/// Absolute and without "." and ".."; "" stays "".
std::string absolute_path(const std::string& path);

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace modewise
