#include "modewise/core/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "modewise/core/system_call.h"

namespace modewise {

FileLock FileLock::of_folder(const std::filesystem::path& folder, Mode mode) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  require_call(descriptor >= 0, ErrorKind::no_input, "cannot open folder", folder.native());
  return FileLock(descriptor, mode);
}

FileLock FileLock::of_file(const std::filesystem::path& file, Mode mode) {
  // Open for writing: network file systems lock nothing else.
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  require_call(descriptor >= 0, ErrorKind::cannot_create, "cannot create", file.native());
  return FileLock(descriptor, mode);
}

FileLock::FileLock(int descriptor, Mode mode) : descriptor_(descriptor) {
  const int operation = mode == Mode::wait ? LOCK_EX : LOCK_EX | LOCK_NB;
  while (::flock(descriptor_, operation) != 0) {
    if (errno == EINTR) continue;
    state_ = errno == EWOULDBLOCK ? State::taken : State::unsupported;
    return;
  }
}

FileLock::~FileLock() {
  ::close(descriptor_);
}

}  // namespace modewise
