#include "modewise/core/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "modewise/core/error.h"

namespace modewise {
namespace fs = std::filesystem;
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
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string reason() {
  return std::strerror(errno);
}

}  // namespace

void write_file_synced(const fs::path& path, std::span<const std::byte> bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  require(file.get() >= 0, errno == ENOENT ? ErrorKind::cannot_create : ErrorKind::io, "cannot create {}: {}",
          path.string(), reason());
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = ::write(file.get(), bytes.data() + written, bytes.size() - written);
    if (n < 0 && errno == EINTR) continue;
    require(n >= 0, ErrorKind::io, "cannot write {}: {}", path.string(), reason());
    written += static_cast<size_t>(n);
  }
  require(::fsync(file.get()) == 0, ErrorKind::io, "cannot sync {}: {}", path.string(), reason());
  require(::close(file.release()) == 0, ErrorKind::io, "cannot close {}: {}", path.string(), reason());
}

void sync_directory(const fs::path& path) {
  const fs::path directory = path.empty() ? fs::path(".") : path;
  Descriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  require(folder.get() >= 0, ErrorKind::io, "cannot open folder {}: {}", directory.string(), reason());
  require(::fsync(folder.get()) == 0, ErrorKind::io, "cannot sync folder {}: {}", directory.string(),
          reason());
}

void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  const fs::path temporary = path.string() + ".tmp-" + std::to_string(::getpid());
  try {
    write_file_synced(temporary, bytes);
    require(::rename(temporary.c_str(), path.c_str()) == 0, ErrorKind::io, "cannot rename {} to {}: {}",
            temporary.string(), path.string(), reason());
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_directory(path.parent_path());
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  write_file_atomically(path, as_bytes(text));
}

std::string read_file(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  require(file.get() >= 0, ErrorKind::no_input, "cannot open {}: {}", path.string(), reason());
  struct stat info {};
  require(::fstat(file.get(), &info) == 0, ErrorKind::io, "cannot stat {}: {}", path.string(), reason());
  require(!S_ISDIR(info.st_mode), ErrorKind::no_input, "{} is a folder, not a file", path.string());
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    require(n >= 0, ErrorKind::io, "cannot read {}: {}", path.string(), reason());
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace modewise
