#pragma once
// ZIP archives as .npz files use them: stored and deflated members, also beyond 4 GiB (zip64). Read through
// the central directory; members must not overlap.

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::io {

struct ZipMember {
  std::string name;
  bool deflated = false;
  uint32_t checksum = 0;            // CRC-32 of the content
  uint64_t size = 0;                // of the content, as declared
  std::span<const std::byte> data;  // as stored in the archive
};

/// Throws data errors that name `source`, offset and rule.
std::vector<ZipMember> read_zip_directory(std::span<const std::byte> archive, const std::string& source);

/// Reads a member's content from its beginning.
class ZipMemberReader {
 public:
  ZipMemberReader(const ZipMember& member, const std::string& source);
  ~ZipMemberReader();
  ZipMemberReader(const ZipMemberReader&) = delete;
  ZipMemberReader& operator=(const ZipMemberReader&) = delete;

  /// Fills all of `out`, or throws.
  void read(std::span<std::byte> out);
  /// Checks that the declared size has been read, that nothing follows, and the checksum.
  void finish();

 private:
  size_t inflate_some(std::span<std::byte> out);

  const ZipMember& member_;
  std::string place_;
  std::span<const std::byte> rest_;
  uint64_t done_ = 0;
  uint32_t checksum_ = 0;
  z_stream stream_{};
  bool ended_ = false;
};

/// Builds an archive in memory. Times are fixed, so that equal contents give equal archives.
class ZipWriter {
 public:
  explicit ZipWriter(bool compress) : compress_(compress) {}
  void add(const std::string& name, std::string_view content);
  std::string finish();

 private:
  bool compress_;
  uint64_t members_ = 0;
  std::string archive_, directory_;
};

}  // namespace modewise::io
