#pragma once
// Streaming output file, the base of write_file_atomically and write_file_synced.

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace modewise {

/// When a file gets its final name: once it is finished, or at once (the name must be free), for a folder
/// that is renamed as a whole afterwards.
enum class Appears { finished, at_once };

/// Writes a file under a unique temporary name next to `path`, until finish() renames it. It keeps the
/// permissions of the file that it replaces, and its owner if the system allows that. Streams (is_stream) are
/// opened and written directly.
class OutputFile {
 public:
  /// Throws cannot_create if the path or its permissions do not allow a file, io otherwise, with the system's
  /// reason.
  explicit OutputFile(std::filesystem::path path, Appears appears = Appears::finished);
  /// Removes an unfinished file.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Open for reading and writing.
  int descriptor() const { return descriptor_; }
  /// Small writes are buffered, large ones go straight to the descriptor.
  void write(std::span<const std::byte> bytes);
  /// Makes the file durable and renames it, unless this process works under a claim that it has lost
  /// (require_own_claim).
  void finish();

 private:
  void open_beside();
  void flush();
  void close();

  std::filesystem::path path_;
  std::filesystem::path unfinished_;  // removed unless finished; empty for a stream
  int descriptor_ = -1;
  std::vector<std::byte> gathered_;
};

/// Whether `path` is a device, pipe or open descriptor (/dev/null, /dev/stdout, /dev/fd/3): written in place,
/// never replaced.
bool is_stream(const std::filesystem::path& path);

/// Throws cannot_create if the file exists, unless `overwrite`; "" and streams pass.
void require_new(const std::filesystem::path& file, bool overwrite);

/// require_new at the start of a command that writes the file, which also removes temporaries that an
/// interrupted command left beside it.
void prepare_output(const std::filesystem::path& file, bool overwrite);

/// Creates a file; `path` must not exist yet, not even as a symbolic link. Throws as OutputFile does.
int open_new_file(const std::filesystem::path& path, mode_t mode);
/// Writes all bytes to an open descriptor; `place` names it in errors. Waits for a full pipe, and calls
/// end_without_reader() on a broken one.
void write_all(int descriptor, std::span<const std::byte> bytes, std::string_view place);
/// fsync, repeated when a signal interrupts it.
void sync_file(int descriptor, std::string_view place);

}  // namespace modewise
