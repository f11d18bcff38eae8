#pragma once
// Unnamed temporary file for data that is too slow to recompute and too large for memory: in $TMPDIR, else in
// /var/tmp; deleted with the object.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace modewise::io {

class ScratchFile {
 public:
  /// Throws io errors that name `purpose`, the folder and the system's reason, as all members do.
  explicit ScratchFile(std::string purpose);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// Allocates disk space for `size` bytes at `offset`, so that a full disk is reported before the work.
  void reserve(uint64_t offset, uint64_t size);
  void write(uint64_t offset, std::span<const std::byte> bytes);
  void read(uint64_t offset, std::span<std::byte> out) const;

 private:
  [[noreturn]] void fail_with(const char* what, int reason) const;

  std::string purpose_, folder_;
  int descriptor_ = -1;
};

}  // namespace modewise::io
