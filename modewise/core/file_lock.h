#pragma once
// A lock on a file or folder among processes. The system drops it when its holder ends, however it ends.
//
// The descriptor that is locked is open for writing: NFS gives an exclusive lock on nothing else. A folder
// cannot be opened for writing, so its lock is one on the file .lock in it, which is removed with the lock.

#include <filesystem>
#include <string>
#include <string_view>

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
  /// The file in a folder that of_folder locks.
  static constexpr std::string_view kFolderFile = ".lock";

  /// Locks a folder. Errors: no_input when there is no such folder, those of of_file.
  static FileLock of_folder(const std::filesystem::path& folder, Mode mode);
  /// Locks a file, which is made where there is none. Errors: cannot_create when it cannot be opened; io when
  /// the system fails to lock it for another reason than that the file system has no locks.
  static FileLock of_file(const std::filesystem::path& file, Mode mode);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  State state() const { return state_; }
  /// The system's message where the file system has no locks: "No locks available".
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
