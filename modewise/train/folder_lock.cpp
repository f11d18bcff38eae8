#include "modewise/train/folder_lock.h"

#include "modewise/core/error.h"

namespace modewise::train {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : lock_(FileLock::of_folder(folder, FileLock::Mode::attempt)) {
  require(lock_.state() != FileLock::State::taken, ErrorKind::cannot_create,
          "another process is training in {}", folder.string());
}

}  // namespace modewise::train
