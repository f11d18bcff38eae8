#pragma once
// Read-only memory-mapped file: readers see its bytes without a copy, and only touched pages take memory.

#include <cstddef>
#include <filesystem>
#include <span>

namespace modewise::io {

class MappedFile {
 public:
  /// Throws no_input with the system's reason if `path` is missing, a folder, not a regular file, or not
  /// readable.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Empty for an empty file. Valid as long as this object lives.
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace modewise::io
