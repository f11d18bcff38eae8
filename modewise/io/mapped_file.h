#pragma once
// A file mapped read-only, so that a reader sees its bytes without a copy and memory follows what it touches.

#include <cstddef>
#include <filesystem>
#include <span>

namespace modewise::io {

class MappedFile {
 public:
  /// Throws no_input with the system's reason when `path` is missing, a folder, no regular file, or not
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
