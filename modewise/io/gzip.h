#pragma once
// Content compressed by gzip (RFC 1952), also of several members one after another. Nothing is allocated for
// content before it is known to be there: its length is found by inflating it once without keeping it.

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace modewise::io {

bool is_gzip(std::span<const std::byte> bytes);

/// Reads content from its beginning, in any number of pieces.
class GzipReader {
 public:
  /// `bytes` must outlive the reader; messages call them `source`.
  GzipReader(std::span<const std::byte> bytes, std::string source);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Fills `out` as far as the content goes and says how much it was. Throws data errors where the data is
  /// damaged, truncated, or differs from its checksum or length.
  size_t read(std::span<std::byte> out);

 private:
  std::span<const std::byte> bytes_, rest_;
  std::string source_;
  z_stream stream_{};
  bool within_ = false;  // a member
  uint64_t done_ = 0;
};

/// All of the content. Refuses more than `most_bytes`; deflate itself cannot expand by more than 1032.
std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& source,
                              int64_t max_bytes);

}  // namespace modewise::io
