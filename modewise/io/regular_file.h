#pragma once
// A regular file open for reading, the base of mapped and partial reads.

#include <cstdint>
#include <filesystem>

namespace modewise::io {

class RegularFile {
 public:
  /// Throws no_input with the system's reason if `path` is missing, a folder, not a regular file, or not
  /// readable.
  explicit RegularFile(const std::filesystem::path& path);
  ~RegularFile();
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&&) = delete;
  RegularFile(const RegularFile&) = delete;

  int descriptor() const { return descriptor_; }
  uint64_t size() const { return size_; }

 private:
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace modewise::io
