#include "modewise/core/output_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "modewise/core/claims.h"
#include "modewise/core/closed_pipe.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/system_call.h"

namespace modewise {
namespace fs = std::filesystem;
namespace {

constexpr mode_t kNewFileMode = 0644;
constexpr size_t kGathered = size_t{1} << 16;

/// The link in /proc/PID/fd to which `path` resolves; empty if there is none. The descriptor may have a plain
/// file open.
fs::path descriptor_link(const fs::path& path) {
  for (fs::path place = path;; place = place.parent_path() / fs::read_symlink(place)) {
    if (!fs::is_symlink(place)) return {};
    struct statfs system {};
    const std::string folder = place.has_parent_path() ? place.parent_path().string() : ".";
    if (::statfs(folder.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC) return place;
  }
}

int open_stream(const fs::path& path) {
  const fs::path link = descriptor_link(path);
  std::error_code error;
  // An own descriptor is shared, so that later writes to it append.
  if (!link.empty() && fs::equivalent(link.parent_path(), "/proc/self/fd", error))
    return ::fcntl(std::stoi(link.filename().string()), F_DUPFD_CLOEXEC, 0);
  return open_file(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
}

/// A file that cannot be created: by its path, its permissions or its file system, not by a full disk.
ErrorKind kind_of_creation(int reason) {
  switch (reason) {
    case EACCES:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOENT:
    case ENOTDIR:
    case EPERM:
    case EROFS:
      return ErrorKind::cannot_create;
    default:
      return ErrorKind::io;
  }
}

/// Creates `file`, which errors call `place`.
int create_file(const fs::path& file, mode_t mode, const fs::path& place) {
  const int fd = open_file(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  require_call(fd >= 0, fd < 0 ? kind_of_creation(errno) : ErrorKind::io, "cannot create", place.native());
  return fd;
}

/// Waits for a pipe that another process has made non-blocking, as stdout may be.
void wait_until_writable(int descriptor) {
  pollfd one = {descriptor, POLLOUT, 0};
  ::poll(&one, 1, -1);  // after a signal or an error, write reports it
}

}  // namespace

OutputFile::OutputFile(fs::path path, Appears appears) : path_(std::move(path)) {
  if (appears == Appears::at_once) {
    descriptor_ = open_new_file(path_, kNewFileMode);
    unfinished_ = path_;
  } else if (is_stream(path_)) {
    descriptor_ = open_stream(path_);
    require_call(descriptor_ >= 0, ErrorKind::io, "cannot open", path_.native());
  } else {
    open_beside();
  }
}

void OutputFile::open_beside() {
  struct stat old {};
  const bool exists = ::stat(path_.c_str(), &old) == 0, replaces = exists && S_ISREG(old.st_mode);
  require_call(exists || errno != ENAMETOOLONG, ErrorKind::cannot_create, "cannot create", path_.native());
  const fs::path temporary = temporary_beside(path_);
  descriptor_ = create_file(temporary, replaces ? old.st_mode & 0777 : kNewFileMode, path_);
  unfinished_ = temporary;
  if (!replaces) return;
  // The owner stays if this user may give files away; otherwise the file becomes this user's.
  if (old.st_uid != ::geteuid() || old.st_gid != ::getegid())
    static_cast<void>(::fchown(descriptor_, old.st_uid, old.st_gid) == 0);
  static_cast<void>(::fchmod(descriptor_, old.st_mode & 0777) == 0);  // bits that the umask removed
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!unfinished_.empty()) ::unlink(unfinished_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  if (gathered_.size() + bytes.size() > kGathered) flush();
  if (bytes.size() > kGathered)
    write_all(descriptor_, bytes, path_.native());
  else
    gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());
}

void OutputFile::finish() {
  flush();
  if (unfinished_.empty()) {
    close();
    return;
  }
  require_own_claim();
  sync_file(descriptor_, unfinished_.native());
  close();
  if (unfinished_ == path_) {
    unfinished_.clear();
    return;
  }
  require_call(::rename(unfinished_.c_str(), path_.c_str()) == 0, ErrorKind::io,
               "cannot rename the temporary file to", path_.native());
  unfinished_.clear();
  sync_directory(path_.parent_path());
}

void OutputFile::flush() {
  write_all(descriptor_, gathered_, path_.native());
  gathered_.clear();
}

void OutputFile::close() {
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0 ||
                      errno == EINTR;  // the descriptor is closed in either case
  require_call(closed, ErrorKind::io, "cannot close", path_.native());
}

bool is_stream(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return false;
  const bool plain = fs::is_regular_file(status) || fs::is_directory(status);
  return !plain || !descriptor_link(path).empty();
}

void require_new(const std::filesystem::path& file, bool overwrite) {
  std::error_code error;  // of a path that cannot be looked up: creating the file reports it
  require(file.empty() || overwrite || !std::filesystem::exists(file, error) || is_stream(file),
          ErrorKind::cannot_create, "{} exists already: --overwrite replaces it", file.string());
}

void prepare_output(const std::filesystem::path& file, bool overwrite) {
  require_new(file, overwrite);
  if (!file.has_filename() || is_stream(file)) return;
  remove_stale_temporaries(file.has_parent_path() ? file.parent_path() : ".",
                           [&](std::string_view name) { return name == file.filename().native(); });
}

int open_new_file(const fs::path& path, mode_t mode) {
  return create_file(path, mode, path);
}

void write_all(int descriptor, std::span<const std::byte> bytes, std::string_view place) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    const int reason = n == 0 ? EIO : errno;  // write gave 0: retrying would never end
    if (n < 0 && reason == EINTR) continue;
    if (n < 0 && reason == EAGAIN) {
      wait_until_writable(descriptor);
      continue;
    }
    if (n < 0 && reason == EPIPE) end_without_reader();
    errno = reason;
    require_call(n > 0, ErrorKind::io, "cannot write", place);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

void sync_file(int descriptor, std::string_view place) {
  while (::fsync(descriptor) != 0) require_call(errno == EINTR, ErrorKind::io, "cannot sync", place);
}

}  // namespace modewise
