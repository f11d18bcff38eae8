#pragma once
// Bytes that are read where they are needed: from memory, or from a file without mapping it, so that the
// memory of a process that walks through a large file does not grow with it.

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
  /// How many bytes from `offset` on it put into `out`: fewer than wanted at the end. Throws io errors. May
  /// be called by several threads at once.
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
