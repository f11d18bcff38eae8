#pragma once
// One process at a time in a run folder.

#include <filesystem>

#include "modewise/core/file_lock.h"

namespace modewise::train {

class FolderLock {
 public:
  /// Errors: cannot_create when another process holds it; those of FileLock::of_folder. On a file system
  /// without locks nothing is held, and a warning says so.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  FileLock lock_;
};

}  // namespace modewise::train
