#include "modewise/core/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "modewise/core/folder.h"
#include "modewise/core/output_file.h"
#include "modewise/core/system_call.h"

namespace modewise {
namespace fs = std::filesystem;
namespace {

/// Limit in bytes for a device or pipe, which may be endless (/dev/zero).
constexpr size_t kMaxStreamBytes = size_t{1} << 30;

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

}  // namespace

void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  OutputFile file(path);
  file.write(bytes);
  file.finish();
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  write_file_atomically(path, as_bytes(text));
}

void write_file_synced(const fs::path& path, std::span<const std::byte> bytes) {
  OutputFile file(path, Appears::at_once);
  file.write(bytes);
  file.finish();
}

void sync_directory(const fs::path& path) {
  const fs::path directory = path.empty() ? fs::path(".") : path;
  const Descriptor folder(open_file(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  require_call(folder.get() >= 0, ErrorKind::io, "cannot open folder", directory.native());
  const std::string place = "folder " + directory.string();
  sync_file(folder.get(), place);
}

std::string read_file(const fs::path& path) {
  const Descriptor file(open_file(path.c_str(), O_RDONLY | O_CLOEXEC));
  require_call(file.get() >= 0, ErrorKind::no_input, "cannot open", path.native());
  struct stat info {};
  require_call(::fstat(file.get(), &info) == 0, ErrorKind::io, "cannot examine", path.native());
  require(!S_ISDIR(info.st_mode), ErrorKind::no_input, "{} is a folder, not a file", path.string());
  std::string text;
  char buffer[1 << 16];
  while (true) {
    require(S_ISREG(info.st_mode) || text.size() <= kMaxStreamBytes, ErrorKind::no_input,
            "{}: expected a file, got a device or pipe that gives more than {} bytes", path.string(),
            kMaxStreamBytes);
    const ssize_t n = read_some(file.get(), buffer, sizeof buffer);
    require_call(n >= 0, ErrorKind::io, "cannot read", path.native());
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

std::string absolute_path(const std::string& path) {
  return path.empty() ? path : require_utf8(fs::absolute(path).lexically_normal()).string();
}

}  // namespace modewise
