#include "modewise/core/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "modewise/core/system_call.h"

namespace modewise {

FileLock::FileLock(const std::filesystem::path& path, Mode mode) {
  if (std::filesystem::is_directory(path)) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require_call(descriptor_ >= 0, ErrorKind::no_input, "cannot open folder", path.native());
  } else {  // open for writing: network file systems lock nothing else
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    require_call(descriptor_ >= 0, ErrorKind::cannot_create, "cannot create", path.native());
  }
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
