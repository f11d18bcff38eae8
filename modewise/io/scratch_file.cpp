#include "modewise/io/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "modewise/core/error.h"

namespace modewise::io {

ScratchFile::ScratchFile(std::string purpose) : purpose_(std::move(purpose)) {
  const char* folder = std::getenv("TMPDIR");
  folder_ = folder == nullptr || *folder == '\0' ? "/var/tmp" : folder;
  std::string path = folder_ + "/modewise-XXXXXX";
  descriptor_ = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail_with("cannot be created", errno);
  ::unlink(path.c_str());
}

ScratchFile::~ScratchFile() {
  ::close(descriptor_);
}

void ScratchFile::fail_with(const char* what, int reason) const {
  fail(ErrorKind::io, "{}: a temporary file in {} {}: {}; set TMPDIR to another folder", purpose_, folder_,
       what, std::strerror(reason));
}

void ScratchFile::reserve(uint64_t offset, uint64_t size) {
  int status = -1;
  do {
    status = ::fallocate(descriptor_, 0, static_cast<off_t>(offset), static_cast<off_t>(size));
  } while (status != 0 && errno == EINTR);
  // Some file systems do not support this; then write reports a full disk.
  if (const int reason = errno; status != 0 && reason != EOPNOTSUPP && reason != ENOSYS)
    fail_with("cannot be allocated", reason);
}

void ScratchFile::write(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    const int reason = errno;
    if (count < 0 && reason == EINTR) continue;
    if (count <= 0) fail_with("cannot be written", count < 0 ? reason : EIO);
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
}

void ScratchFile::read(uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    const int reason = errno;
    if (count < 0 && reason == EINTR) continue;
    if (count <= 0) fail_with("cannot be read", count < 0 ? reason : EIO);
    out = out.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
}

}  // namespace modewise::io
