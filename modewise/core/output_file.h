#pragma once
// A file that is written piece by piece and appears as a whole: what write_file_atomically is made of.

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace modewise {

/// A file on its way to `path`: beside it, under a name that nobody else has, until finish() gives it its
/// own. It keeps the permissions of the file whose place it takes, and its owner where the system lets it.
/// What is no plain file (is_stream) is opened and written to as it is.
class OutputFile {
 public:
  /// Throws cannot_create where the folder does not exist, io otherwise, with the system's reason.
  explicit OutputFile(std::filesystem::path path);
  /// Removes the temporary when the file was not finished.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Open for reading and writing.
  int descriptor() const { return descriptor_; }
  void write(std::span<const std::byte> bytes);
  /// Makes it durable and gives it its name.
  void finish();

 private:
  void open_beside();
  void close();

  std::filesystem::path path_, temporary_;  // no temporary: a stream, or finished
  int descriptor_ = -1;
};

/// Devices, pipes and open descriptors (/dev/null, /dev/stdout, /dev/fd/3): they are written to, and nothing
/// takes their place.
bool is_stream(const std::filesystem::path& path);

/// Opens a file that must not be there yet, not even as a link to somewhere else. Throws as OutputFile does.
int open_new_file(const std::filesystem::path& path, mode_t mode);
/// All bytes, to an open descriptor; `place` names it in errors.
void write_all(int descriptor, std::span<const std::byte> bytes, std::string_view place);

}  // namespace modewise
