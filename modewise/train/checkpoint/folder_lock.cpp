#include "modewise/train/checkpoint/folder_lock.h"

#include <spdlog/spdlog.h>

#include "modewise/core/error.h"

namespace modewise::train {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : lock_(FileLock::of_folder(folder, FileLock::Mode::attempt)) {
  require(lock_.state() != FileLock::State::taken, ErrorKind::cannot_create,
          "another process is training in {}", folder.string());
  if (lock_.state() == FileLock::State::unsupported)
    spdlog::warn("the file system of {} has no locks ({}): start no second training in this folder",
                 folder.string(), lock_.reason());
}

}  // namespace modewise::train
