#include "modewise/io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "modewise/core/error.h"

namespace modewise::io {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string reason() {
  return std::strerror(errno);
}

void unmap(std::span<const std::byte> bytes) {
  if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // Not blocking, so that a named pipe without a writer is refused below instead of waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  require(file.get() >= 0, ErrorKind::no_input, "cannot open {}: {}", path.string(), reason());
  struct stat info {};
  require(::fstat(file.get(), &info) == 0, ErrorKind::no_input, "cannot examine {}: {}", path.string(),
          reason());
  require(!S_ISDIR(info.st_mode), ErrorKind::no_input, "cannot read {}: it is a folder, not a file",
          path.string());
  require(S_ISREG(info.st_mode), ErrorKind::no_input,
          "cannot read {}: it is a pipe or device, a regular file is needed", path.string());
  if (info.st_size == 0) return;
  const auto size = static_cast<size_t>(info.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  require(address != MAP_FAILED, ErrorKind::no_input, "cannot map {}: {}", path.string(), reason());
  bytes_ = {static_cast<const std::byte*>(address), size};
}

MappedFile::~MappedFile() {
  unmap(bytes_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap(bytes_);
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

}  // namespace modewise::io
