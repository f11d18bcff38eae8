#pragma once
// Lock on a file or folder between processes (flock). The system releases it when the holder ends.
//
// The locked descriptor is open for writing: NFS grants exclusive locks on nothing else. A folder cannot be
// opened for writing, so its lock is a lock on the file .lock in it, which is removed with the lock.

#include <filesystem>
#include <string>
#include <string_view>

namespace modewise {

class FileLock {
 public:
  enum class State {
    held,
    taken,       // another process holds it
    unsupported  // the file system has no locks
  };
  enum class Mode {
    wait,    // until the lock is free
    attempt  // do not wait: the state may be `taken`
  };
  /// Name of the lock file in a folder (of_folder).
  static constexpr std::string_view kFolderFile = ".lock";

  /// Locks a folder. Errors: no_input when there is no such folder, those of of_file.
  static FileLock of_folder(const std::filesystem::path& folder, Mode mode);
  /// Locks a file and creates it if missing. Errors: cannot_create when it cannot be opened; io when locking
  /// fails for any reason but a file system without locks.
  static FileLock of_file(const std::filesystem::path& file, Mode mode);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  State state() const { return state_; }
  /// The system's message if the file system has no locks: "No locks available".
  const std::string& reason() const { return reason_; }

 private:
  FileLock(std::filesystem::path file, Mode mode, bool removed);
  void open();
  State lock(Mode mode);
  bool has_its_name() const;
  void close();

  std::filesystem::path file_;
  bool removed_;  // the file, with the lock
  int descriptor_ = -1;
  State state_ = State::held;
  std::string reason_;
};

}  // namespace modewise
