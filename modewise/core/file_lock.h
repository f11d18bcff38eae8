#pragma once
// A lock on a file or folder among processes. The system drops it when its holder ends, however it ends.

#include <filesystem>

namespace modewise {

class FileLock {
 public:
  enum class State {
    held,
    taken,       // another process has it
    unsupported  // the file system has no locks
  };
  enum class Mode {
    wait,    // until nobody else has it
    attempt  // or be `taken`
  };

  /// Locks a folder. Throws no_input when it cannot be opened.
  static FileLock of_folder(const std::filesystem::path& folder, Mode mode);
  /// Locks a file, which is made where there is none. Throws cannot_create when it cannot be opened.
  static FileLock of_file(const std::filesystem::path& file, Mode mode);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  State state() const { return state_; }

 private:
  FileLock(int descriptor, Mode mode);

  int descriptor_ = -1;
  State state_ = State::held;
};

}  // namespace modewise
