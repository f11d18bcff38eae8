#include "modewise/io/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "modewise/core/system_call.h"

namespace modewise::io {

RegularFile::RegularFile(const std::filesystem::path& path) {
  // Non-blocking, so that a named pipe without a writer is refused below instead of blocking.
  descriptor_ = open_file(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  require(descriptor_ >= 0 || path.filename() != "-", ErrorKind::no_input,
          "cannot open {}: there is no such file, and standard input is not read here: write its bytes to a "
          "file first",
          path.string());
  require_call(descriptor_ >= 0, ErrorKind::no_input, "cannot open", path.native());
  try {
    struct stat info {};
    require_call(::fstat(descriptor_, &info) == 0, ErrorKind::no_input, "cannot examine", path.native());
    require(!S_ISDIR(info.st_mode), ErrorKind::no_input, "cannot read {}: it is a folder, not a file",
            path.string());
    require(S_ISREG(info.st_mode), ErrorKind::no_input,
            "cannot read {}: expected a regular file, got a pipe or device; write its bytes to a file first",
            path.string());
    size_ = static_cast<uint64_t>(info.st_size);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

}  // namespace modewise::io
