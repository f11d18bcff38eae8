#include "modewise/train/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "modewise/core/system_call.h"

namespace modewise::train {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  require_call(descriptor_ >= 0, ErrorKind::no_input, "cannot open folder", folder.native());
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    fail(ErrorKind::cannot_create, "another process is training in {}", folder.string());
  }
}

FolderLock::~FolderLock() {
  ::close(descriptor_);
}

}  // namespace modewise::train
