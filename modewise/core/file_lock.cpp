#include "modewise/core/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "modewise/core/system_call.h"

namespace modewise {
namespace {

/// Whether this errno of flock means that the file system has no locks.
bool has_no_locks(int error) {
  return error == ENOLCK || error == EBADF || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

}  // namespace

FileLock FileLock::of_folder(const std::filesystem::path& folder, Mode mode) {
  struct stat info {};
  require_call(::stat(folder.c_str(), &info) == 0, ErrorKind::no_input, "cannot open folder",
               folder.native());
  return FileLock(folder / kFolderFile, mode, true);
}

FileLock FileLock::of_file(const std::filesystem::path& file, Mode mode) {
  return FileLock(file, mode, false);
}

FileLock::FileLock(std::filesystem::path file, Mode mode, bool removed)
    : file_(std::move(file)), removed_(removed) {
  try {
    do {
      close();
      open();
      state_ = lock(mode);
    } while (removed_ && state_ == State::held && !has_its_name());
  } catch (...) {
    close();
    throw;
  }
}

FileLock::~FileLock() {
  if (removed_ && state_ != State::taken) ::unlink(file_.c_str());
  close();
}

void FileLock::open() {
  descriptor_ = open_file(file_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  require_call(descriptor_ >= 0, ErrorKind::cannot_create, "cannot create", file_.native());
}

FileLock::State FileLock::lock(Mode mode) {
  const int operation = mode == Mode::wait ? LOCK_EX : LOCK_EX | LOCK_NB;
  while (::flock(descriptor_, operation) != 0) {
    const int error = errno;
    if (error == EINTR) continue;
    if (error == EWOULDBLOCK) return State::taken;
    reason_ = std::generic_category().message(error);
    require(has_no_locks(error), ErrorKind::io, "cannot lock {}: {}", file_.string(), reason_);
    return State::unsupported;
  }
  return State::held;
}

/// Whether the locked file still has that name: the previous holder may have removed it between our open and
/// our lock.
bool FileLock::has_its_name() const {
  struct stat ours {
  }, named{};
  return ::fstat(descriptor_, &ours) == 0 && ::stat(file_.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

void FileLock::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace modewise
