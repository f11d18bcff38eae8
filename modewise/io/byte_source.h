#pragma once
// Random-access bytes, in memory or in a file that is not mapped: a pass over a large file then takes
// constant memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "modewise/io/regular_file.h"

namespace modewise::io {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  /// Reads into `out` from `offset` on. Returns the number of bytes, fewer than requested at the end. Throws
  /// io errors. Thread-safe.
  virtual size_t read(uint64_t offset, std::span<std::byte> out) const = 0;
};

/// Does not own the bytes.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  size_t read(uint64_t offset, std::span<std::byte> out) const override;

 private:
  std::span<const std::byte> bytes_;
};

class FileSource : public ByteSource {
 public:
  /// Throws as RegularFile does.
  explicit FileSource(std::filesystem::path path) : path_(std::move(path)), file_(path_) {}
  uint64_t size() const override { return file_.size(); }
  size_t read(uint64_t offset, std::span<std::byte> out) const override;

 private:
  std::filesystem::path path_;
  RegularFile file_;
};

}  // namespace modewise::io
