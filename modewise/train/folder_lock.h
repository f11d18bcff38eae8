#pragma once
// One process at a time in a run folder.

#include <filesystem>

#include "modewise/core/file_lock.h"

namespace modewise::train {

class FolderLock {
 public:
  /// Throws cannot_create when another process holds it. File systems without locks are let through.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  FileLock lock_;
};

}  // namespace modewise::train
