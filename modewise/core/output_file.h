#pragma once
// A file that is written piece by piece: what write_file_atomically and write_file_synced are made of.

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace modewise {

/// When a file has its name: as a whole once it is finished, or from the beginning, where nothing else may
/// have it, for a folder that is renamed as a whole afterwards.
enum class Appears { finished, at_once };

/// A file on its way to `path`: beside it, under a name that nobody else has, until finish() gives it its
/// own. It keeps the permissions of the file whose place it takes, and its owner where the system lets it.
/// What is no plain file (is_stream) is opened and written to as it is.
class OutputFile {
 public:
  /// Throws cannot_create where the folder does not exist, io otherwise, with the system's reason.
  explicit OutputFile(std::filesystem::path path, Appears appears = Appears::finished);
  /// Removes what was written when the file was not finished.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Open for reading and writing.
  int descriptor() const { return descriptor_; }
  /// Small pieces are gathered before they reach the descriptor, large ones go there from where they are.
  void write(std::span<const std::byte> bytes);
  /// Makes it durable and gives it its name, unless this process works under a claim that it has lost
  /// (require_own_claim).
  void finish();

 private:
  void open_beside();
  void flush();
  void close();

  std::filesystem::path path_;
  std::filesystem::path unfinished_;  // what is removed unless it is finished; none for a stream
  int descriptor_ = -1;
  std::vector<std::byte> gathered_;
};

/// Devices, pipes and open descriptors (/dev/null, /dev/stdout, /dev/fd/3): they are written to, and nothing
/// takes their place.
bool is_stream(const std::filesystem::path& path);

/// cannot_create error for a file that is there, unless `force` says to overwrite it; "" is no file, and
/// streams hold nothing that could be lost.
void require_new(const std::filesystem::path& file, bool force);

/// Opens a file that must not be there yet, not even as a link to somewhere else. Throws as OutputFile does.
int open_new_file(const std::filesystem::path& path, mode_t mode);
/// All bytes, to an open descriptor; `place` names it in errors. Waits for a pipe that is full, and calls
/// end_without_reader() where its reader has gone.
void write_all(int descriptor, std::span<const std::byte> bytes, std::string_view place);
/// fsync until no signal interrupts it.
void sync_file(int descriptor, std::string_view place);

}  // namespace modewise
