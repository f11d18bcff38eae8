#pragma once
// One process at a time in a run folder. The system drops the lock when the process ends, however it ends.

#include <filesystem>

namespace modewise::train {

class FolderLock {
 public:
  /// Throws cannot_create when another process holds it. File systems without locks are let through.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace modewise::train
