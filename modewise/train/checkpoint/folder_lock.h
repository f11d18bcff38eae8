#pragma once
// Lock of a run folder: one process trains in it at a time.

#include <filesystem>

#include "modewise/core/file_lock.h"

namespace modewise::train {

class FolderLock {
 public:
  /// Errors: cannot_create when another process holds the lock; those of FileLock::of_folder. On a file
  /// system without locks it warns and locks nothing.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  FileLock lock_;
};

}  // namespace modewise::train
